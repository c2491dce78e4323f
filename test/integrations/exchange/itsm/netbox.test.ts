import type { NetBox } from '../../../emulators/netbox/instance.ts';
import { populate } from '../../../emulators/netbox/landscape.ts';
import { levelTimes, startNetBox } from '../../../emulators/netbox/server.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import {
  allPages,
  codeOf,
  connectToNetBox as connect,
  expectError,
  failure,
  readAll as readPages,
} from './remote.ts';

const table = 'dcim/devices';
let clock: VirtualClock;
let netbox: NetBox;
let remote: ReturnType<typeof connect>;
let built: ReturnType<typeof populate>;

beforeEach(async () => {
  clock = createVirtualClock();
  netbox = await startNetBox({ clock });
  built = populate(netbox, 25);
  remote = connect(netbox);
});
afterEach(async () => {
  await remote.close();
  await netbox.close();
});

const ids = (of = table): string[] => netbox.store.rows(of).map(({ id }) => `${of}/${id}`);

const readAll = async ({ limit = 10, ...more }: { limit?: number } & Parameters<typeof readPages>[3] = {}) =>
  (await readPages(remote, table, limit, more)).records;

describe('a full read', () => {
  const fields = ['name', 'site', 'site.slug', 'status', 'tags', 'custom_fields.owner', 'no_such_column'];

  test('returns each object once, with choices, references, tags and custom fields', async () => {
    const records = await readAll({ fields });
    expect(records.map(({ id }) => id)).toEqual(ids());
    const [first] = netbox.store.rows(table);
    const site = `dcim/sites/${built.sites[0]!.id}`;
    expect(records[0]).toEqual({
      table,
      id: `${table}/${first!.id}`,
      updatedAt: '2026-01-05T08:00:00.000Z',
      fields: {
        name: { value: 'host 0' },
        site: { value: site, display: 'Frankfurt' },
        'site.slug': { value: 'frankfurt' },
        status: { value: 'planned', display: 'Planned' },
        tags: { value: 'prod;web' },
        'custom_fields.owner': { value: 'ops' },
      },
    });
    // from the second page on by the key that 4.6 knows, without counting
    expect(netbox.calls.map(({ query }) => [query.get('id__gt'), query.has('start')])).toEqual([
      ['0', false],
      [null, true],
      [null, true],
    ]);
  });

  test('supports versions without these, and truncated pages', async () => {
    netbox.version = '3.7';
    netbox.maxPageSize = 4;
    expect((await readAll({ limit: 100 })).map(({ id }) => id)).toEqual(ids());
    expect(netbox.calls.some(({ query }) => query.has('start'))).toBe(false);
  });

  test('applies a filter, and rejects one that would change the paging', async () => {
    const found = await readAll({ limit: 4, filter: 'status=active&site=paris' });
    expect(found.map(({ fields: { name } }) => name!.value)).toEqual(
      netbox.store
        .rows(table)
        .filter((row) => row.status === 'active' && row.site === built.sites[1]!.id)
        .map(({ name }) => name),
    );
    const request = { table, fields: [], limit: 10, cursor: null, filter: 'status=active&offset=5' };
    await expectError(remote.readPage(request), 'refused');
    expect(await remote.findUnknownColumns(table, 'status=active&site=x&colour=red&limit=5')).toEqual([
      'colour',
      'limit',
    ]);
    expect(await remote.findUnknownColumns(table, 'cf_owner__ic=ops&cf_team=x')).toEqual(['cf_team']);
  });
});

test('a delta is sorted by the time of change, with equal times over more than a page', async () => {
  clock.advance(3_600_000);
  levelTimes(netbox);
  const since = new Date(clock.now()).toISOString();
  clock.advance(5_000);
  const [first] = netbox.store.rows(table);
  netbox.store.update(table, first!.id, { name: 'renamed' });
  const seen = await readAll({ limit: 4, since });
  expect(seen.map(({ id }) => id)).toEqual([...ids().slice(1), ids()[0]]);
  expect(seen.at(-1)!.updatedAt).toBe('2026-01-05T09:00:05.000Z');
});

test('a delta needs one request if nothing has changed', async () => {
  expect(await readAll({ since: new Date(clock.now() + 3_600_000).toISOString() })).toEqual([]);
  expect(remote.calls()).toBe(1);
});

describe('a deleted object', () => {
  test('is reported by the change log', async () => {
    const since = new Date(clock.now()).toISOString();
    clock.advance(600_000);
    const [gone] = ids();
    netbox.store.remove(table, netbox.store.rows(table)[0]!.id);
    netbox.store.remove('tenancy/tenants', built.tenant.id);
    const told = [{ table, id: gone, at: '2026-01-05T08:10:00.000Z' }];
    expect(await remote.readDeletions(table, since)).toEqual(told);
    netbox.version = '4.0';
    const older = connect(netbox);
    expect(await older.readDeletions(table, since)).toEqual(told);
    await older.close();
    netbox.denied.add('view extras/object-changes');
    const blind = connect(netbox);
    await expectError(blind.readDeletions(table, since), 'forbidden');
    await blind.close();
  });

  test.each([1, 3])('is gone when read by key only if the log reports it (%i in a batch)', async (count) => {
    const [there, hidden, gone] = ids();
    const rows = netbox.store.rows(table);
    netbox.store.remove(table, rows[2]!.id);
    netbox.hides = (_, { id }) => id === rows[1]!.id;
    const kinds: string[] = [];
    const wanted = [there!, hidden!, gone!];
    for (const some of count === 1 ? wanted.map((id) => [id]) : [wanted]) {
      const looks = await remote.readByIds(table, some, ['name']);
      kinds.push(...some.map((id) => looks.get(id)!.kind));
    }
    expect(kinds).toEqual(['there', 'unknown', 'gone']);
  });
});

describe('relations', () => {
  const read = async (types: string[]) => {
    const pages = await allPages((cursor) => remote.readRelations({ types, since: null, limit: 10, cursor }));
    return pages.flatMap(({ relations }) => relations);
  };

  test('are references and cables, with a type per reference column', async () => {
    const [a, b] = netbox.store.rows(table);
    const [left, right] = [a!, b!]
      .map(({ id }) => netbox.store.insert('dcim/interfaces', { name: 'eth0', device: id }))
      .map(({ id }) => [{ table: 'dcim/interfaces', id }]);
    netbox.store.insert('dcim/cables', { a_terminations: left, b_terminations: right });
    expect(await remote.describeRelationTypes()).toContainEqual({
      id: 'dcim/devices:site',
      name: 'dcim/devices site',
      forward: 'is located at',
      reverse: 'is the site of',
    });
    const relations = await read(['dcim/devices:site', 'dcim/sites:tenant', 'dcim/cables']);
    expect(relations).toHaveLength(25 + 2 + 1);
    const first = relations[0];
    expect(first).toMatchObject({ type: 'dcim/devices:site', from: ids()[0], to: ids('dcim/sites')[0] });
    expect(relations.at(-1)).toMatchObject({ type: 'dcim/cables', from: ids()[0], to: ids()[1] });
    await expectError(remote.createRelation('dcim/cables', ids()[0]!, ids()[1]!), 'refused');
  });

  test('are created where none exists, and deleted; the log reports deletions', async () => {
    const [device] = ids();
    const tenant = `tenancy/tenants/${built.tenant.id}`;
    const since = new Date(clock.now()).toISOString();
    const id = await remote.createRelation('dcim/devices:tenant', device!, tenant);
    expect(await remote.createRelation('dcim/devices:tenant', device!, tenant)).toBe(id);
    expect((await read(['dcim/devices:tenant'])).map((one) => one.id)).toEqual([id]);
    const other = netbox.store.insert('tenancy/tenants', { name: 'Other', slug: 'other' });
    await expectError(
      remote.createRelation('dcim/devices:tenant', device!, `tenancy/tenants/${other.id}`),
      'refused',
      `The tenant of ${device} is already Contoso, and a reference has one target`,
    );
    expect(await remote.deleteRelation(id)).toBe(true);
    expect(await remote.deleteRelation(id)).toBe(false);
    expect((await remote.readRelationDeletions(since)).map((one) => one.id)).toEqual([id]);
    await remote.createRelation('dcim/devices:tenant', device!, tenant);
    expect(await remote.readRelationDeletions(since)).toEqual([]);
    const [first] = await read(['dcim/devices:site']);
    expect((await failure(remote.deleteRelation(first!.id))).what).toContain('may not be null');
  });
});

describe('writes', () => {
  const values = () => ({
    name: 'new',
    role: `dcim/device-roles/${built.role.id}`,
    site: `dcim/sites/${built.sites[1]!.id}`,
    tags: 'web;edge',
    'custom_fields.owner': 'ops',
  });

  test('create, change and delete objects; the stored values are returned', async () => {
    const { record, isRecovered } = await remote.create(table, values(), 'plan:1');
    expect([isRecovered, record.fields.site, record.fields.tags]).toEqual([
      false,
      { value: values().site, display: 'Paris' },
      { value: 'edge;web' },
    ]);
    expect((await remote.findCreated(table, 'plan:1'))!.id).toBe(record.id);
    await remote.create(table, values(), 'plan:11');
    expect((await remote.findCreated(table, 'plan:1'))!.id).toBe(record.id);
    expect(await remote.findCreated(table, 'plan:2')).toBeNull();
    const changed = await remote.update(table, record.id, {
      name: null,
      tags: null,
      'custom_fields.owner': null,
    });
    expect(changed.record.fields).toEqual({
      name: { value: '' },
      tags: { value: '' },
      'custom_fields.owner': { value: null },
    });
    expect(await remote.delete(table, record.id)).toBe(true);
    expect(await remote.delete(table, record.id)).toBe(false);
    await expectError(remote.update(table, record.id, { name: 'x' }), 'not_found');
    await expectError(
      remote.create(table, { name: 'x'.repeat(65) }, 'plan:3'),
      'refused',
      'site: This field is',
    );
    const used = await failure(remote.delete('dcim/sites', values().site));
    expect([used.code, used.status]).toEqual(['refused', 409]);
    await expectError(remote.update(table, ids()[0]!, { 'site.name': 'x' }), 'refused');
  });

  test('depend on the object as it was read', async () => {
    const [id] = ids();
    const look = async () => {
      const found = (await remote.readByIds(table, [id!], ['name'])).get(id!);
      return found?.kind === 'there' ? found.record.version : undefined;
    };
    const version = await look();
    expect(version).toMatch(/^W\/"2026-01-05T08:00:00\.000\d{3}\+00:00"$/);
    netbox.store.update(table, netbox.store.rows(table)[0]!.id, { serial: 'moved' });
    await expectError(remote.update(table, id!, { name: 'x' }, version), 'changed_concurrently');
    await expectError(remote.delete(table, id!, version), 'changed_concurrently');
    expect((await remote.update(table, id!, { name: 'x' }, await look())).record.version).toBe(await look());
  });

  test.each(['4.6.0', '4.4.2'])('depend on it also if it was read in a batch, in %s', async (version) => {
    netbox.version = version;
    const [id, other] = ids();
    const seen = async () => {
      const found = (await remote.readByIds(table, [id!, other!], ['name'])).get(id!);
      return found?.kind === 'there' ? found.record.version : undefined;
    };
    const before = await seen();
    netbox.store.update(table, netbox.store.rows(table)[0]!.id, { serial: 'moved' });
    const writes = netbox.store.writes.length;
    await expectError(remote.update(table, id!, { name: 'x' }, before), 'changed_concurrently');
    await expectError(remote.delete(table, id!, before), 'changed_concurrently');
    expect(netbox.store.writes).toHaveLength(writes);
    const { record } = await remote.update(table, id!, { name: 'x' }, await seen());
    expect(record.fields.name).toEqual({ value: 'x' });
    expect(await remote.delete(table, id!, await seen())).toBe(true);
    expect(await remote.delete(table, id!, before)).toBe(false);
  });

  test('are refused before they are sent if they could not be looked up later', async () => {
    netbox.store.customFields.splice(0, 1);
    const before = netbox.store.writes.length;
    expect((await failure(remote.findCreated(table, 'plan:1'))).what).toContain('estate_correlation');
    await expectError(remote.create(table, values(), 'plan:1'), 'refused', 'estate_correlation');
    expect(netbox.store.writes).toHaveLength(before);
  });
});

test('the description contains tables and columns', async () => {
  expect(await remote.describeTables('virtual')).toEqual([
    { name: 'virtualization/clusters', label: 'Clusters', parent: null },
    { name: 'virtualization/virtual-machines', label: 'Virtual machines', parent: null },
  ]);
  expect((await remote.describeTables()).map(({ name }) => name)).toContain('plugins/widgets/cogs');
  const columns = new Map((await remote.describeFields(table)).map((one) => [one.name, one]));
  expect(columns.get('site')).toMatchObject({ kind: 'reference', reference: 'dcim/sites', mandatory: true });
  expect(columns.get('status')!.choices).toContainEqual({ value: 'planned', label: 'Planned' });
  expect(columns.get('name')).toMatchObject({ kind: 'text', maxLength: 64 });
  expect(columns.get('custom_fields.owner')).toMatchObject({ label: 'Owner', kind: 'text' });
  for (const wrong of ['dcim/nothing', '../secrets', 'dcim'])
    await expectError(remote.describeFields(wrong), 'not_found');
});

test('the description is derived from existing objects if the account cannot write', async () => {
  netbox.denied.add(`add ${table}`).add(`change ${table}`).add('view extras/custom-fields');
  const columns = new Map((await remote.describeFields(table)).map((one) => [one.name, one]));
  expect(columns.get('site')).toMatchObject({ kind: 'reference', reference: 'dcim/sites' });
  expect(columns.get('custom_fields.owner')).toMatchObject({ kind: 'text' });
  const needs = [
    { table, rights: ['read', 'create', 'update', 'delete'] as const },
    { table: 'dcim/sites', rights: ['create'] as const },
  ].map((need) => ({ ...need, rights: [...need.rights] }));
  netbox.denied.add(`view ${table}`);
  const granted = (await remote.testRights(needs)).map(({ granted }) => granted);
  expect(granted).toEqual([false, false, false, null, true]);
});

test('tokens of both versions are accepted; an invalid one and a missing permission are different errors', async () => {
  const request = { table, fields: ['name'], limit: 10, cursor: null };
  for (const [token, code] of [
    ['a'.repeat(40), undefined],
    ['b'.repeat(40), 'credentials_refused'],
  ] as const) {
    const other = connect(netbox, { token });
    expect(await codeOf(other.readPage(request))).toBe(code);
    await other.close();
  }
  netbox.denied.add(`view ${table}`);
  await expectError(remote.readPage(request), 'forbidden');
});
