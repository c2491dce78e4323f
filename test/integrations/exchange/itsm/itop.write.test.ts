import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readResponse } from '../../../../integrations/exchange/itsm/connectors/itop/transport.ts';
import { populate } from '../../../emulators/itop/landscape.ts';
import { databaseMessage, type ItopEmulator, startItop } from '../../../emulators/itop/server.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { connectToItop, expectError, failure } from './remote.ts';

let instance: ItopEmulator;
let remote: ReturnType<typeof connectToItop>;
let land: ReturnType<typeof populate>;
beforeEach(async () => {
  instance = await startItop({
    clock: createVirtualClock(),
    accounts: [{ login: 'estate', token: 't-4711' }],
  });
  land = populate(instance, { servers: 30, applications: 2 });
  remote = connectToItop(instance);
});
afterEach(async () => {
  await remote.close();
  await instance.close();
});
const request = { table: 'Server', fields: ['name'], limit: 10, cursor: null };
const org = () => `Organization::${land.org.id}`;

test('a record is created, changed and deleted; the stored values are returned', async () => {
  const made = await remote.create(
    'Server',
    { name: 'x'.repeat(300), org_id: org(), nb_u: 2, location_id: null },
    'estate:1',
  );
  const { id } = made.record;
  expect(made.record).toMatchObject({
    table: 'Server',
    fields: { org_id: { value: org(), display: 'Demo' }, nb_u: { value: '2' } },
  });
  expect(made.record.fields.name!.value).toHaveLength(255);
  expect((await remote.findCreated('Server', 'estate:1'))!.id).toBe(id);
  expect(await remote.findCreated('Server', 'estate:2')).toBeNull();
  const location = `Location::${land.location.id}`;
  const changed = await remote.update('FunctionalCI', id, { name: 'web', description: 'new' });
  expect(changed.record.fields.name).toEqual({ value: 'web' });
  const moved = await remote.update('Server', id, { location_id: location, cpu: null });
  expect(moved.record.fields.location_id).toEqual({ value: location, display: 'Grenoble' });
  const emptied = await remote.update('Server', id, { location_id: null });
  expect(emptied.record.fields.location_id).toEqual({ value: '' });
  expect(await remote.delete('Server', id)).toBe(true);
  expect(await remote.delete('Server', id)).toBe(false);
  expect(await remote.findCreated('Server', 'estate:1')).toBeNull();
  await expectError(remote.update('Server', id, { name: 'x' }), 'not_found');
  await expect(remote.findCreated('Server', '')).rejects.toThrow('must not be empty');
});

test('a rejected write is refused with its reason', async () => {
  await expectError(
    remote.create('Server', { name: 'x', org_id: org(), status: 'none' }, 'estate:1'),
    'refused',
    'Value not allowed [none]',
  );
  expect((await failure(remote.create('Server', { name: 'x' }, 'estate:1'))).what).toContain('org_id');
  await expectError(remote.create('Nothing', { name: 'x' }, 'estate:1'), 'not_found');
  instance.accounts.get('estate')!.denied.add('write Server');
  await expectError(remote.create('Server', { name: 'x', org_id: org() }, 'estate:1'), 'forbidden');
  expect(instance.writes).toEqual([]);
});

test('a referenced object may be given by its name if that is unique', async () => {
  instance.faults.arm({ fault: 'truncated_json', kinds: ['create'] });
  const { record } = await remote.create('Server', { name: 'x', org_id: 'Demo' }, 'estate:1');
  expect(record.fields.org_id).toEqual({ value: org(), display: 'Demo' });
  instance.faults.arm({ fault: 'reset_after_write', kinds: ['update'] });
  await remote.update('Server', record.id, { org_id: 'Other' });
  expect(instance.writes.map(({ kind }) => kind)).toEqual(['create', 'update']);
  instance.elsewhere.insert('Organization', { name: 'Demo' });
  for (const name of ['Nobody', 'Demo'])
    await expectError(
      remote.update('Server', record.id, { org_id: name }),
      'refused',
      `criteria: name: ${name}`,
    );
});

describe('with reconciliation keys', () => {
  beforeEach(async () => {
    await remote.close();
    remote = connectToItop(instance, { reconciliation: { Server: ['name', 'org_id'] } });
  });
  const made = () => instance.writes.filter(({ kind }) => kind === 'create');

  test('an existing object is adopted, and its empty attributes are written', async () => {
    const id = `Server::${instance.elsewhere.insert('Server', { name: 'web', org_id: land.org.id, nb_u: 2 }).id}`;
    for (const org_id of [org(), 'Demo']) {
      const written = await remote.create('Server', { name: 'web', org_id, nb_u: 4, cpu: null }, 'estate:1');
      expect(written).toMatchObject({ adopted: true, record: { id, fields: { nb_u: { value: '4' } } } });
    }
    // the second time it had all values
    expect(instance.writes.map(({ kind }) => kind)).toEqual(['update']);
    expect(await remote.findCreated('Server', 'estate:1')).toBeNull();
  });

  test('other objects are created once each', async () => {
    instance.elsewhere.insert('Server', { name: 'web', org_id: land.org.id });
    instance.faults.arm({ fault: 'reset_after_write', kinds: ['create'], times: 1 });
    const written = await remote.create('Server', { name: "web's", org_id: org() }, 'estate:1');
    expect(written).toMatchObject({ isRecovered: true, record: { fields: { name: { value: "web's" } } } });
    expect(written.adopted).toBeUndefined();
    // classes without keys are never looked up
    instance.elsewhere.insert('ApplicationSolution', { name: 'Payroll', org_id: land.org.id });
    await remote.create('ApplicationSolution', { name: 'Payroll', org_id: org() }, 'estate:2');
    expect(made()).toHaveLength(2);
  });

  test('nothing is written if several objects have the keys, or one is missing', async () => {
    for (const _ of [1, 2]) instance.elsewhere.insert('Server', { name: 'web', org_id: land.org.id });
    await expectError(
      remote.create('Server', { name: 'web', org_id: org() }, 'estate:1'),
      'ambiguous',
      'Several objects of Server have this name, org_id',
    );
    await expectError(
      remote.create('Server', { name: 'web', org_id: null }, 'estate:1'),
      'refused',
      'Objects of Server are reconciled by name, org_id, but the new one has no org_id',
    );
    expect(instance.writes).toEqual([]);
  });
});

test('a relation is created once, although the response is lost, and deleted', async () => {
  const type = 'lnkApplicationSolutionToFunctionalCI:applicationsolution_id:functionalci_id';
  const from = `ApplicationSolution::${land.applications[0]!.id}`;
  instance.faults.arm({ fault: 'reset_after_write', kinds: ['create'] });
  const id = await remote.createRelation(type, from, `Server::${land.servers[9]!.id}`);
  expect(instance.writes).toHaveLength(1);
  expect(await remote.deleteRelation(id)).toBe(true);
  expect(await remote.deleteRelation(id)).toBe(false);
  await expectError(remote.createRelation('none', from, from), 'refused');
  await expectError(remote.createRelation(type, from, 'x'), 'not_found');
});

describe('an error', () => {
  test.each([
    [1040, 'Too many connections'],
    [1205, 'Lock wait timeout exceeded; try restarting transaction'],
    [1213, 'Deadlock found when trying to get lock; try restarting transaction'],
    [2002, 'Connection refused'],
    [2006, 'MySQL server has gone away'],
    [2013, 'Lost connection to MySQL server during query'],
  ])('database error %i is a temporary outage', async (code, text) => {
    instance.databaseError = { code, message: databaseMessage(code, text) };
    instance.faults.arm({ fault: 'database_error', times: 3 });
    expect((await remote.readPage(request)).records.length).toBeGreaterThan(0);
    instance.faults.arm({ fault: 'database_error', kinds: ['create'], times: 2 });
    await remote.create('Server', { name: 'x', org_id: org() }, 'estate:1');
    expect(instance.writes).toHaveLength(1);
    instance.faults.arm({ fault: 'database_error', times: 99 });
    await expectError(remote.readPage(request), 'unavailable');
  });

  test('a database error about a value is refused immediately', async () => {
    instance.databaseError = {
      code: 1406,
      message: databaseMessage(1406, "Data too long for column 'name'"),
    };
    instance.faults.arm({ fault: 'database_error', kinds: ['create'], times: 99 });
    const failed = await failure(remote.create('Server', { name: 'x', org_id: org() }, 'estate:1'));
    expect([failed.code, instance.faults.fired.get('database_error')]).toEqual(['refused', 1]);
  });

  test('a token or password is accepted; wrong ones and wrong addresses are not', async () => {
    const open = (config: Parameters<typeof connectToItop>[1]) => connectToItop(instance, config);
    const token = open({ auth: { kind: 'token', token: 't-4711' } });
    expect((await token.readPage(request)).records.length).toBeGreaterThan(0);
    const stranger = open({ auth: { kind: 'token', token: 'none' } });
    const refused = await failure(stranger.readPage(request));
    expect(refused.code).toBe('credentials_refused');
    expect(JSON.stringify(refused)).not.toContain('none');
    const lost = open({ url: `${instance.base}/elsewhere` });
    await expectError(lost.readPage(request), 'not_found');
    for (const one of [token, stranger, lost]) await one.close();
  });

  test('a write that fails permanently was looked up before each attempt', async () => {
    instance.faults.arm({ fault: 'server_error', kinds: ['create'], times: 9 });
    const failed = await failure(remote.create('Server', { name: 'x', org_id: org() }, 'estate:1'));
    expect([failed.code, instance.writes]).toEqual(['response_lost', []]);
  });
});

test('the guide lists how each response is handled', () => {
  const guide = readFileSync(
    path.resolve(import.meta.dirname, '../../../../docs/integrations/itop.md'),
    'utf8',
  );
  const rows = [...guide.matchAll(/^\| `(\d+)` \| `(.+?)` \| .+ \| `(\w+)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(8);
  const context = { where: '', doing: 'Reading', isRead: true, now: 0, mask: (text: string) => text };
  for (const [, code, message, meaning] of rows) {
    const body = Buffer.from(JSON.stringify({ code: Number(code), message }));
    const read = readResponse({ status: 200, headers: {}, body }, context);
    expect([message, read.kind !== 'done' && read.error.code]).toEqual([message, meaning]);
  }
});
