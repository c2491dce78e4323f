import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  earliestLocalTime,
  fromLocal,
  toLocal,
} from '../../../../integrations/exchange/itsm/connectors/itop/history.ts';
import {
  findFilterProblem,
  namesInFilter,
} from '../../../../integrations/exchange/itsm/connectors/itop/transport.ts';
import { populate } from '../../../emulators/itop/landscape.ts';
import { type ItopEmulator, startItop } from '../../../emulators/itop/server.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { allPages, connectToItop, expectError, failure, readAll } from './remote.ts';

let clock: VirtualClock;
let instance: ItopEmulator;
let remote: ReturnType<typeof connectToItop>;
let land: ReturnType<typeof populate>;
beforeEach(async () => {
  clock = createVirtualClock();
  instance = await startItop({ clock });
  land = populate(instance, { servers: 60, applications: 8 });
  remote = connectToItop(instance);
});
afterEach(async () => {
  await remote.close();
  await instance.close();
});

const idsOf = (className: string) => instance.store.of(className).map((item) => `${item.class}::${item.id}`);

describe('a full read', () => {
  test.each([7, 40, 500])('returns each object once, with subclasses, in pages of %i', async (limit) => {
    const { records } = await readAll(remote, 'PhysicalDevice', limit);
    expect(records.map(({ id }) => id)).toEqual(idsOf('PhysicalDevice'));
    expect(new Set(records.map(({ id }) => id.split('::')[0]))).toEqual(new Set(['Server', 'NetworkDevice']));
  });

  test('needs few requests if keys are sparse', async () => {
    for (let at = 0; at < 600; at += 1) instance.elsewhere.insert('Organization', { name: `Org ${at}` });
    for (const { id } of instance.store.of('Organization').slice(2, -1)) {
      if (id % 150 !== 0) instance.store.remove(instance.store.find('Organization', id)!, '');
    }
    const { records, pages } = await readAll(remote, 'Organization', 4);
    expect(records).toHaveLength(instance.store.of('Organization').length);
    expect(pages).toBeLessThan(20);
  });

  test('returns each lasting object once, whatever is created, deleted and renamed meanwhile', async () => {
    const before = new Set(idsOf('Server'));
    instance.faults.arm({ fault: 'rows_between_pages', times: 99 });
    const met = (await readAll(remote, 'Server', 10)).records.map(({ id }) => id);
    expect(new Set(met).size).toBe(met.length);
    const after = new Set(idsOf('Server'));
    expect([...before].filter((id) => after.has(id) && !met.includes(id))).toEqual([]);
    expect(instance.faults.fired.get('rows_between_pages')).toBeGreaterThan(2);
  });

  test('returns stored and displayed values, and the targets of references', async () => {
    const [server] = land.servers;
    instance.elsewhere.update(server!, { powerA_id: land.servers[1]!.id });
    const fields = ['name', 'status', 'org_id', 'location_id', 'powerA_id', 'nb_u', 'finalclass'];
    const { records } = await readAll(remote, 'Server', 100, { fields, filter: `id = ${server!.id}` });
    expect(records).toEqual([
      {
        table: 'Server',
        id: `Server::${server!.id}`,
        updatedAt: '2026-01-05T08:00:00.000Z',
        fields: {
          name: { value: 'Server 0' },
          status: { value: 'production' },
          org_id: { value: `Organization::${land.org.id}`, display: 'Demo' },
          location_id: { value: `Location::${land.location.id}`, display: 'Grenoble' },
          powerA_id: { value: `Server::${land.servers[1]!.id}`, display: 'Server 919' },
          nb_u: { value: '' },
          finalclass: { value: 'Server' },
        },
      },
    ]);
  });

  test('applies a filter, also one that is only a condition', async () => {
    const filter = `name LIKE 'Server 1%' OR (name = "Server 0" AND status != 'stock')`;
    expect((await readAll(remote, 'Server', 5, { filter })).records).toHaveLength(
      instance.store.of('Server').filter(({ values }) => /^Server (1|0$)/.test(String(values.name))).length,
    );
    for (const bad of [`name = 'a') OR (id > 0`, `name = 'a`, '1 UNION SELECT Server', '(id > 0']) {
      const read = remote.readPage({ table: 'Server', fields: [], limit: 5, cursor: null, filter: bad });
      await expectError(read, 'refused');
    }
  });
});

describe('a delta', () => {
  const readSince = async (since: string, limit: number) => {
    const request = { table: 'FunctionalCI', fields: ['name'], limit, since };
    const pages = await allPages((cursor) => remote.readSince({ ...request, cursor }));
    return pages.flatMap(({ records }) => records);
  };

  test.each([2, 100])(
    'returns created and changed objects of the class and its subclasses, in pages of %i',
    async (limit) => {
      const since = new Date(clock.now()).toISOString();
      clock.advance(6 * 3_600_000);
      instance.elsewhere.update(land.servers[0]!, { name: 'renamed', status: 'stock' });
      instance.elsewhere.remove(land.servers[1]!);
      clock.advance(60_000);
      const made = instance.elsewhere.insert('ApplicationSolution', { name: 'new', org_id: land.org.id });
      // the same key in another root class
      instance.elsewhere.update(instance.store.of('UserRequest')[0]!, { title: 'other' });
      const seen = await readSince(new Date(clock.now() - 1_800_000).toISOString(), limit);
      expect(new Map(seen.map(({ id, fields, updatedAt }) => [id, [fields.name!.value, updatedAt]]))).toEqual(
        new Map([
          [`Server::${land.servers[0]!.id}`, ['renamed', '2026-01-05T14:00:00.000Z']],
          [`ApplicationSolution::${made.id}`, ['new', '2026-01-05T14:01:00.000Z']],
        ]),
      );
      expect(await remote.readDeletions('Server', since)).toEqual([
        { table: 'Server', id: `Server::${land.servers[1]!.id}`, at: '2026-01-05T14:00:00.000Z' },
      ]);
    },
  );

  test('returns what an import stores long after the time of its entries', async () => {
    clock.advance(6 * 3_600_000);
    const began = instance.store.now();
    clock.advance(5_400_000);
    const since = new Date(clock.now()).toISOString();
    const made = instance.elsewhere.insert('Server', { name: 'imported', org_id: land.org.id });
    for (const entry of instance.store.of('CMDBChangeOp')) {
      if (entry.values.objkey === made.id) entry.values.date = began;
    }
    expect((await readSince(since, 100)).map(({ id }) => id)).toEqual([`Server::${made.id}`]);
  });

  test('needs few requests if nothing has changed', async () => {
    // longer than the difference of time zones, since a younger change could be a new one in another time zone
    clock.advance(30 * 3_600_000);
    const since = new Date(clock.now()).toISOString();
    expect(await readSince(since, 1_000)).toEqual([]);
    await remote.readDeletions('Server', since);
    expect(remote.calls()).toBeLessThanOrEqual(5);
  });

  test.each(['Asia/Tokyo', 'Pacific/Kiritimati'])(
    'misses no change with the time zone %s, in which the history has earlier times',
    async (timeZone) => {
      const wrong = connectToItop(instance, { timeZone });
      const since = new Date(clock.now()).toISOString();
      clock.advance(60_000);
      instance.elsewhere.update(land.servers[0]!, { name: 'renamed' });
      instance.elsewhere.remove(land.servers[1]!);
      const page = await wrong.readSince({
        table: 'Server',
        fields: ['name'],
        limit: 500,
        since,
        cursor: null,
      });
      expect(page.records.map(({ fields }) => fields.name!.value)).toContain('renamed');
      expect((await wrong.readDeletions('Server', since)).map(({ id }) => id)).toEqual([
        `Server::${land.servers[1]!.id}`,
      ]);
      await wrong.close();
    },
  );

  test('detects a history in another time zone than configured', async () => {
    const wrong = connectToItop(instance, { timeZone: 'UTC' });
    clock.advance(60_000);
    instance.elsewhere.update(land.servers[0]!, { name: 'renamed' });
    const page = wrong.readSince({
      table: 'Server',
      fields: ['name'],
      limit: 10,
      since: '2026-01-05T07:30:00.000Z',
      cursor: null,
    });
    expect((await failure(page)).what).toContain('time_zone UTC');
    await wrong.close();
  });
});

test('a record is gone if the history reports its deletion, and unknown if it is only not returned', async () => {
  const [there, hidden, gone] = land.servers;
  instance.elsewhere.remove(gone!);
  instance.elsewhere.update(hidden!, { org_id: land.other.id });
  instance.accounts.get('estate')!.organisations = new Set([land.org.id]);
  const ids = [there!, hidden!, gone!].map(({ id }) => `Server::${id}`);
  const looks = await remote.readByIds('Server', [...ids, 'nonsense'], ['name']);
  expect([...ids, 'nonsense'].map((id) => looks.get(id)!.kind)).toEqual(['there', 'unknown', 'gone', 'gone']);
  instance.accounts.get('estate')!.denied.add('read CMDBChangeOp');
  const blind = await remote.readByIds('Server', ids, ['name']);
  expect(ids.map((id) => blind.get(id)!.kind)).toEqual(['there', 'unknown', 'unknown']);
});

test('links are relations, with full reads, deltas and deletions', async () => {
  const type = 'lnkApplicationSolutionToFunctionalCI:applicationsolution_id:functionalci_id';
  expect((await remote.describeRelationTypes()).map(({ id }) => id)).toContain(type);
  const read = async (since: string | null, types = [type]) => {
    const request = { types, since, limit: 3 };
    const pages = await allPages((cursor) => remote.readRelations({ ...request, cursor }));
    return pages.flatMap(({ relations }) => relations);
  };
  const all = land.links.map(({ id, values }) => [
    `lnkApplicationSolutionToFunctionalCI::${id}`,
    type,
    `ApplicationSolution::${values.applicationsolution_id}`,
    `Server::${values.functionalci_id}`,
  ]);
  expect((await read(null)).map(({ id, type, from, to }) => [id, type, from, to])).toEqual(all);
  // of all types, although the instance has not all of them
  expect(await read(null, [])).toHaveLength(all.length);
  const since = new Date(clock.now()).toISOString();
  clock.advance(6 * 3_600_000);
  instance.elsewhere.remove(land.applications[0]!);
  const made = instance.elsewhere.insert('lnkApplicationSolutionToFunctionalCI', {
    applicationsolution_id: land.applications[1]!.id,
    functionalci_id: land.servers[5]!.id,
  });
  expect((await read(new Date(clock.now()).toISOString())).map(({ id }) => id)).toEqual([
    `lnkApplicationSolutionToFunctionalCI::${made.id}`,
  ]);
  expect((await remote.readRelationDeletions(since)).map(({ id }) => id)).toContain(all[0]![0]);
  await expectError(remote.readRelations({ types: ['x'], since: null, limit: 3, cursor: null }), 'refused');
});

describe('the schema of the remote', () => {
  test('contains attributes that no object has any more', async () =>
    expect(await remote.findHiddenColumns('Server', ['name', 'location_id', 'gone'])).toEqual(['gone']));

  test('lists classes, including custom ones by name, and attributes as in objects', async () => {
    expect(await remote.describeTables('virtual m')).toEqual([
      { name: 'VirtualMachine', label: 'Virtual machine', parent: 'VirtualDevice' },
    ]);
    const tables = await remote.describeTables('UserRequest');
    expect(tables).toContainEqual({ name: 'UserRequest', label: 'UserRequest', parent: null });
    expect(await remote.describeTables('NoSuchClass')).toEqual([]);
    const fields = new Map((await remote.describeFields('Server')).map((field) => [field.name, field]));
    expect(fields.get('org_id')).toMatchObject({ kind: 'reference', reference: 'Organization' });
    expect(fields.get('cpu')).toMatchObject({ kind: 'text' });
    expect(fields.has('powerA_id_finalclass_recall')).toBe(false);
    const links = await remote.describeFields('ApplicationSolution');
    expect(links.find(({ name }) => name === 'functionalcis_list')!.kind).toBe('other');
    await expectError(remote.describeFields('Nothing'), 'not_found');
  });

  test('reports unknown names of a filter', async () => {
    const filter = `name = 'a' OR (u_gone = 1 AND org_id_friendlyname LIKE 'x%')`;
    expect(await remote.findUnknownColumns('Server', filter)).toEqual(['u_gone']);
    expect(await remote.findUnknownColumns('Server', 'id > 5')).toEqual([]);
    await expectError(remote.findUnknownColumns('Server', 'name ='), 'refused');
    expect(namesInFilter(`Server.name = :this->name AND DATE_SUB(NOW(), INTERVAL 1 DAY) < \`move\``)).toEqual(
      ['name', 'move'],
    );
    expect(namesInFilter('org_id IN (SELECT Organization WHERE code = 1) AND cpu = 2')).toEqual([
      'org_id',
      'cpu',
    ]);
    expect(findFilterProblem(`name = 'it\\'s' AND (id > 0)`)).toBeUndefined();
  });

  test('checks permissions without side effects', async () => {
    const needs = [
      { table: 'Server', rights: ['read', 'create', 'update', 'delete'] as const },
      { table: 'CMDBChangeOp', rights: ['read'] as const },
      { table: 'Nothing', rights: ['read', 'create'] as const },
    ].map(({ table, rights }) => ({ table, rights: [...rights] }));
    const granted = async (of = remote) =>
      (await of.testRights(needs)).map(({ table, right, granted }) => `${right} ${table} ${granted}`);
    expect(await granted()).toEqual([
      'read Server true',
      'create Server true',
      'update Server true',
      'delete Server true',
      'read CMDBChangeOp true',
      'read Nothing false',
      'create Nothing false',
    ]);
    const { denied } = instance.accounts.get('estate')!;
    for (const one of ['write FunctionalCI', 'delete Server', 'read CMDBChangeOp']) denied.add(one);
    expect((await granted()).slice(0, 5)).toEqual([
      'read Server true',
      'create Server false',
      'update Server false',
      'delete Server false',
      'read CMDBChangeOp false',
    ]);
    denied.clear();
    // read as UTC, a change just written in Paris is in the future; read as Tokyo time, it may be the last one
    for (const [timeZone, found] of [
      ['UTC', false],
      ['Asia/Tokyo', null],
    ] as const) {
      const elsewhere = connectToItop(instance, { timeZone });
      expect(await granted(elsewhere)).toContain(`read CMDBChangeOp ${found}`);
      await elsewhere.close();
    }
    expect(instance.writes).toEqual([]);
  });
});

test('the profile in the guide grants reading the history', () => {
  const file = '../../../../docs/integrations/itop/history-reader.delta.xml';
  const xml = readFileSync(path.resolve(import.meta.dirname, file), 'utf8');
  const all = (pattern: RegExp) => [...xml.matchAll(pattern)].map(([, found]) => found);
  expect(all(/<class id="(\w+)"\/>/g)).toEqual(['CMDBChangeOp', 'CMDBChange']);
  expect(all(/<action id="([^"]+)">allow/g)).toEqual(['action:read', 'action:bulk read']);
  expect(all(/<group id="(\w+)"/g)).toEqual(['EstateHistory', 'EstateHistory']);
});

test('local times are converted to UTC, also at clock changes', () => {
  const zone = 'Europe/Paris';
  expect(toLocal(Date.UTC(2026, 6, 1, 10), zone)).toBe('2026-07-01 12:00:00');
  expect(fromLocal('2026-07-01 12:00:00', zone)).toBe(Date.UTC(2026, 6, 1, 10));
  expect(fromLocal('2026-01-01 00:30:00', zone)).toBe(Date.UTC(2025, 11, 31, 23, 30));
  // occurs twice in that night; the earlier one counts
  expect(fromLocal('2026-10-25 02:30:00', zone)).toBe(Date.UTC(2026, 9, 25, 0, 30));
  expect(Number.isNaN(fromLocal('', zone))).toBe(true);
  // an entry written at 01:10 UTC has the local time 02:10, which is before 02:50, the local time at 00:50 UTC
  const since = earliestLocalTime(Date.UTC(2026, 9, 25, 0, 50), zone);
  expect(since <= toLocal(Date.UTC(2026, 9, 25, 1, 10), zone)).toBe(true);
  expect(earliestLocalTime(Date.UTC(2026, 6, 1, 10), zone)).toBe('2026-07-01 12:00:00');
});
