import type { Right } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { failure as failureOf } from '../../../emulators/servicenow/http.ts';
import { populate } from '../../../emulators/servicenow/landscape.ts';
import { type ServiceNowEmulator, startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { allPages, type Connected, connect, expectError, readAll } from './remote.ts';

let clock: VirtualClock;
let instance: ServiceNowEmulator;
let remote: Connected;

beforeEach(async () => {
  clock = createVirtualClock();
  instance = await startServiceNow({ clock });
  populate(instance, { items: { cmdb_ci_linux_server: 60, cmdb_ci_win_server: 25 }, relations: 90 });
  remote = connect(instance);
});
afterEach(async () => {
  await remote.close();
  await instance.close();
});

const ids = (table: string): string[] => [...instance.store.ids(table)];

describe('a full read', () => {
  test('returns each record once, with stored values', async () => {
    const { records, hasHiddenRows, pages } = await readAll(remote, 'cmdb_ci_server', 40, {
      fields: ['name', 'install_status', 'company', 'sys_class_name', 'no_such_column'],
    });
    expect(records.map(({ id }) => id)).toEqual(ids('cmdb_ci_server'));
    expect([hasHiddenRows, pages]).toEqual([false, 3]);
    const row = instance.store
      .of('cmdb_ci_server')
      .find(({ values }) => values.serial_number === 'cmdb_ci_linux_server-11')!;
    expect(records.find(({ id }) => id === row.values.sys_id)).toEqual({
      table: 'cmdb_ci_server',
      id: row.values.sys_id,
      updatedAt: '2026-01-05T08:00:00.000Z',
      fields: {
        name: { value: 'Host 11' },
        install_status: { value: '7' },
        company: { value: row.values.company },
        sys_class_name: { value: 'cmdb_ci_linux_server' },
      },
    });
  });

  test('applies a filter with several groups', async () => {
    const filter = 'name=Host 3^sys_class_name=cmdb_ci_win_server^NQnameSTARTSWITHHost 5^ORDERBYname';
    const { records } = await readAll(remote, 'cmdb_ci_server', 4, { filter });
    expect(records.map(({ fields }) => fields.name!.value).sort()).toEqual(
      ['Host 3', 'Host 5', 'Host 5', ...Array.from({ length: 10 }, (_, at) => `Host 5${at}`)].sort(),
    );
    expect(records.map(({ id }) => id)).toEqual(records.map(({ id }) => id).sort());
  });

  test('continues after hidden rows, and reports that there are some', async () => {
    const all = ids('cmdb_ci_server');
    const hidden = new Set([all[3], ...all.slice(20, 55), all.at(-1)]);
    instance.accounts.get('estate')!.hidesRow = (row) => hidden.has(row.values.sys_id);
    const { records, hasHiddenRows } = await readAll(remote, 'cmdb_ci_server', 10);
    expect(records.map(({ id }) => id)).toEqual(all.filter((id) => !hidden.has(id)));
    expect(hasHiddenRows).toBe(true);
  });

  test('does not mistake a repeated row for the hidden one', async () => {
    const all = ids('cmdb_ci_server');
    instance.accounts.get('estate')!.hidesRow = (row) => row.values.sys_id === all[4];
    instance.faults.arm({ fault: 'duplicate_ids' });
    const { records, hasHiddenRows } = await readAll(remote, 'cmdb_ci_server', 10);
    expect(records.map(({ id }) => id)).toEqual(all.filter((id) => id !== all[4]));
    expect(hasHiddenRows).toBe(true);
  });

  test('of an empty table ends immediately', async () =>
    expect(await readAll(remote, 'cmdb_ci_service', 10)).toEqual({
      records: [],
      hasHiddenRows: false,
      pages: 1,
    }));
});

describe('a delta', () => {
  const readSince = async (since: string, limit: number) => {
    const request = { table: 'cmdb_ci_server', fields: ['name'], limit, since };
    const pages = await allPages((cursor) => remote.readSince({ ...request, cursor }));
    return pages.flatMap(({ records }) => records);
  };

  test('returns created and changed records in the order of change', async () => {
    const before = clock.now();
    clock.advance(3_600_000);
    const [changed] = ids('cmdb_ci_win_server');
    instance.elsewhere.update(changed!, { name: 'renamed' });
    clock.advance(1_000);
    const made = instance.elsewhere.insert('cmdb_ci_linux_server', { name: 'new' });
    const seen = await readSince(new Date(before + 120_000).toISOString(), 1);
    expect(seen.map(({ id, fields }) => [id, fields.name!.value])).toEqual([
      [changed, 'renamed'],
      [made.values.sys_id, 'new'],
    ]);
  });

  test('returns more records with the same time than fit on a page', async () => {
    clock.advance(3_600_000);
    instance.impose('equal_timestamps');
    const seen = await readSince('2026-01-05T09:00:00.000Z', 10);
    expect(seen.map(({ id }) => id)).toEqual(ids('cmdb_ci_server'));
  });

  test('needs few requests if nothing has changed', async () => {
    const since = new Date(clock.now() + 3_600_000).toISOString();
    await readSince(since, 1_000);
    await remote.readDeletions('cmdb_ci_server', since);
    expect(remote.calls()).toBeLessThanOrEqual(5);
  });
});

test('relations are read by type, with the ids of their ends', async () => {
  const types = await remote.describeRelationTypes();
  const pairs = types.map(({ name, forward, reverse }) => [name, forward, reverse]);
  expect(pairs).toContainEqual(['Runs on::Runs', 'Runs on', 'Runs']);
  const type = types.find(({ name }) => name === 'Runs on::Runs')!.id;
  const pages = await allPages((cursor) =>
    remote.readRelations({ types: [type], since: null, limit: 20, cursor }),
  );
  const seen = pages.flatMap(({ relations }) => relations);
  const rows = instance.store.of('cmdb_rel_ci').filter(({ values }) => values.type === type);
  expect(seen.map(({ id, from, to }) => [id, from, to])).toEqual(
    rows.map(({ values }) => [values.sys_id, values.parent, values.child]),
  );
});

describe('a deleted record', () => {
  test('is reported by the audit, also for subclasses and for relations deleted with it', async () => {
    const since = new Date(clock.now()).toISOString();
    clock.advance(600_000);
    const [gone] = ids('cmdb_ci_win_server');
    const relations = instance.store
      .of('cmdb_rel_ci')
      .filter(({ values }) => [values.parent, values.child].includes(gone!));
    instance.elsewhere.remove(gone!);
    instance.elsewhere.remove(instance.elsewhere.insert('cmdb_ci_service', { name: 'other' }).values.sys_id!);
    expect(await remote.readDeletions('cmdb_ci_server', since)).toEqual([
      { table: 'cmdb_ci_server', id: gone, at: '2026-01-05T08:10:00.000Z' },
    ]);
    const told = await remote.readRelationDeletions(since);
    expect(told.map(({ id }) => id).sort()).toEqual(relations.map(({ values }) => values.sys_id).sort());
    instance.accounts.get('estate')!.roles.delete('audit_reader');
    await expectError(remote.readDeletions('cmdb_ci_server', since), 'forbidden');
  });

  test('is reported completely, also if audit rows are hidden', async () => {
    const since = new Date(clock.now()).toISOString();
    clock.advance(600_000);
    const gone = Array.from({ length: 1_200 }, (_, n) => {
      const { sys_id } = instance.elsewhere.insert('cmdb_ci_server', { name: `old ${n}` }).values;
      instance.elsewhere.remove(sys_id!);
      return sys_id!;
    });
    const audited = instance.store.of('sys_audit_delete').map(({ values }) => values);
    // the first page is empty, the second one short
    const kept = new Set(
      audited
        .map(({ sys_id }) => sys_id!)
        .sort()
        .slice(0, 1_001),
    );
    instance.accounts.get('estate')!.hidesRow = ({ values }) => kept.has(values.sys_id!);
    const told = await remote.readDeletions('cmdb_ci_server', since);
    const shown = audited.filter(({ sys_id }) => !kept.has(sys_id!)).map(({ documentkey }) => documentkey!);
    expect(told.map(({ id }) => id).sort()).toEqual(shown.filter((id) => gone.includes(id)).sort());
    expect(told.length).toBeGreaterThan(100);
  });

  test('is gone when read by key, unless it may be hidden', async () => {
    const [there, hidden, gone] = ids('cmdb_ci_server');
    instance.elsewhere.remove(gone!);
    const look = async () => {
      const looks = await remote.readByIds('cmdb_ci_server', [there!, hidden!, gone!], ['name']);
      return [there!, hidden!, gone!].map((id) => looks.get(id)!.kind);
    };
    expect(await look()).toEqual(['there', 'there', 'gone']);
    instance.accounts.get('estate')!.hidesRow = (row) => row.values.sys_id === hidden;
    expect(await look()).toEqual(['there', 'unknown', 'gone']);
  });
});

describe('the schema of the remote', () => {
  test('contains tables and columns, including inherited ones, with choices and references', async () => {
    expect(await remote.describeTables('linux')).toEqual([
      { name: 'cmdb_ci_linux_server', label: 'Linux Server', parent: 'cmdb_ci_server' },
    ]);
    const fields = await remote.describeFields('cmdb_ci_linux_server');
    const byName = new Map(fields.map((field) => [field.name, field]));
    expect(byName.get('virtual')).toMatchObject({ label: 'Is Virtual', kind: 'boolean' });
    expect(byName.get('install_status')!.choices).toContainEqual({ value: '7', label: 'Retired' });
    expect(byName.get('company')).toMatchObject({ kind: 'reference', reference: 'core_company' });
    expect(byName.get('sys_updated_on')).toMatchObject({ kind: 'datetime' });
    expect(fields.map(({ name }) => name)).toEqual(fields.map(({ name }) => name).sort());
    await expectError(remote.describeFields('nothing'), 'not_found');
  });

  test('reports names of a filter that the remote would ignore silently', async () => {
    const filter = 'os=Linux^u_gone=1^NQcompany.name=Contoso^ORvirtualISEMPTY^ORDERBYname';
    expect(await remote.findUnknownColumns('cmdb_ci_server', filter)).toEqual(['u_gone']);
  });

  test('reports columns that are hidden from the account', async () => {
    instance.accounts.get('estate')!.hidesField = (_table, field) => field === 'short_description';
    expect(
      await remote.findHiddenColumns('cmdb_ci_server', ['name', 'short_description', 'asset_tag']),
    ).toEqual(['short_description']);
    // also if the first row by which it could be detected is hidden
    const [first] = instance.store.ids('cmdb_ci_server');
    instance.accounts.get('estate')!.hidesRow = ({ values }) => values.sys_id === first;
    expect(await remote.findHiddenColumns('cmdb_ci_server', ['name', 'short_description'])).toEqual([
      'short_description',
    ]);
  });

  test('permissions are tried where that has no side effects, and read otherwise', async () => {
    const rights = (found: { right: string; granted: boolean | null }[]) =>
      Object.fromEntries(found.map(({ right, granted }) => [right, granted]));
    const all: Right[] = ['read', 'create', 'update', 'delete'];
    const needs = [{ table: 'cmdb_ci_server', rights: all }];
    expect(rights(await remote.testRights(needs))).toEqual(Object.fromEntries(all.map((one) => [one, true])));
    const account = instance.accounts.get('estate')!;
    account.hidesRow = () => true;
    account.roles.delete('user_admin');
    const granted = rights(await remote.testRights(needs));
    expect(granted).toEqual({ read: false, create: null, update: null, delete: null });
    expect(instance.writes).toEqual([]);
  });

  test.each([400, 404])(
    "permissions are unknown if reading the account's roles returns %i",
    async (status) => {
      instance.instead = ({ table }) =>
        table === 'sys_user_has_role' ? failureOf(status, 'Invalid query', null) : undefined;
      const needs = [{ table: 'cmdb_ci', rights: ['read', 'create'] as Right[] }];
      expect((await remote.testRights(needs)).map(({ granted }) => granted)).toEqual([true, null]);
    },
  );

  test('permissions are checked for some tables at a time, so that a slow instance can be tested', async () => {
    instance.latency.list = 2_000;
    const before = clock.now();
    const tables = ['cmdb_ci', 'cmdb_rel_ci', 'sys_db_object', 'sys_dictionary', 'sys_choice', 'sys_audit'];
    const more = ['cmdb_ci_server', 'cmdb_ci_linux_server'];
    const needs = [...tables, ...more].map((table) => ({ table, rights: ['read', 'create'] as Right[] }));
    expect((await remote.testRights(needs)).map(({ table, right }) => `${right} ${table}`)).toEqual(
      needs.flatMap(({ table }) => [`read ${table}`, `create ${table}`]),
    );
    expect(instance.count('list', 'sys_user_has_role')).toBe(1);
    expect(clock.now() - before).toBeLessThan(10_000);
  });
});
