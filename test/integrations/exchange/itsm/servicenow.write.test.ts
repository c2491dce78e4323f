import { populate } from '../../../emulators/servicenow/landscape.ts';
import { type ServiceNowEmulator, startServiceNow } from '../../../emulators/servicenow/server.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { type Connected, connect, expectError, failure } from './remote.ts';

let clock: VirtualClock;
let instance: ServiceNowEmulator;
let remote: Connected;
const table = 'cmdb_ci_linux_server';

beforeEach(async () => {
  clock = createVirtualClock();
  instance = await startServiceNow({
    clock,
    importSets: { u_estate: { target: table, map: 'Estate', coalesce: ['correlation_id'] } },
  });
  populate(instance, { items: { [table]: 6 }, relations: 6 });
  remote = connect(instance);
});
afterEach(async () => {
  await remote.close();
  await instance.close();
});

test('a record is created, changed and deleted; the stored values are returned', async () => {
  const made = await remote.create(
    table,
    { name: 'web', os: 'x'.repeat(60), virtual: true, cost: 12.5 },
    'estate:1',
  );
  expect(made).toMatchObject({
    isRecovered: false,
    record: { table, fields: { name: { value: 'web' }, virtual: { value: 'true' } } },
  });
  expect(made.record.fields.os!.value).toHaveLength(40);
  const { id } = made.record;
  expect((await remote.findCreated(table, 'estate:1'))!.id).toBe(id);
  const changed = await remote.update(table, id, { name: 'web 2', cost: null });
  expect(changed.record.fields).toMatchObject({ name: { value: 'web 2' }, cost: { value: '' } });
  expect(await remote.delete(table, id)).toBe(true);
  expect(await remote.delete(table, id)).toBe(false);
  expect(await remote.findCreated(table, 'estate:1')).toBeNull();
  await expectError(remote.update(table, id, { name: 'x' }), 'not_found');
});

test('a relation is created and deleted', async () => {
  const [from, to] = [instance.store.ids(table)[0]!, instance.store.ids(table)[4]!];
  const [type] = await remote.describeRelationTypes();
  const id = await remote.createRelation(type!.id, from, to);
  expect(instance.store.rows.get(id)!.values).toMatchObject({ parent: from, child: to, type: type!.id });
  expect(await remote.deleteRelation(id)).toBe(true);
});

test.each([undefined, 'reset_after_write'] as const)(
  'no relation to a deleted record remains (%s)',
  async (fault) => {
    const [from, to] = [instance.store.ids(table)[0]!, instance.store.ids(table)[4]!];
    const [type] = await remote.describeRelationTypes();
    const relations = instance.store.ids('cmdb_rel_ci').length;
    instance.elsewhere.remove(to);
    const left = instance.store.ids('cmdb_rel_ci').length;
    expect(left).toBeLessThanOrEqual(relations);
    if (fault) instance.faults.arm({ fault });
    expect(await failure(remote.createRelation(type!.id, from, to))).toMatchObject({
      code: 'not_found',
      where: expect.stringContaining(to),
    });
    expect(instance.store.ids('cmdb_rel_ci')).toHaveLength(left);
  },
);

test('a write that fails at the remote is looked up and repeated', async () => {
  instance.faults.arm({ fault: 'server_error', kinds: ['create'], times: 1 });
  instance.faults.arm({ fault: 'html_answer', kinds: ['create'], nth: 2, times: 1 });
  const made = await remote.create(table, { name: 'web' }, 'estate:1');
  expect([made.isRecovered, instance.writes.length]).toEqual([false, 1]);
  instance.faults.arm({ fault: 'server_error', kinds: ['create'], times: 9 });
  await expectError(remote.create(table, { name: 'other' }, 'estate:2'), 'response_lost');
  expect(instance.writes).toHaveLength(1);
});

test('a hidden record is neither created again nor treated as gone', async () => {
  const account = instance.accounts.get('estate')!;
  account.hidesRow = ({ values }) => values.correlation_id === 'estate:hidden';
  instance.faults.arm({ fault: 'reset_after_write', kinds: ['create'] });
  expect(await failure(remote.create(table, { name: 'hidden' }, 'estate:hidden'))).toMatchObject({
    code: 'response_lost',
    what: expect.stringContaining('is hidden from the account'),
  });
  expect(instance.store.of(table).filter(({ values }) => values.name === 'hidden')).toHaveLength(1);
  const id = instance.store.ids(table)[0]!;
  account.hidesRow = ({ values }) => values.sys_id === id;
  await expectError(remote.delete(table, id), 'not_found');
  expect(instance.store.rows.has(id)).toBe(true);
});

test.each(['update', 'delete'] as const)('a lost %s is not repeated over a later change', async (kind) => {
  const id = instance.store.ids(table)[0]!;
  const look = (await remote.readByIds(table, [id], ['name', 'os'])).get(id)!;
  const { fields } = (look as Extract<typeof look, { kind: 'there' }>).record;
  const send = () =>
    kind === 'update'
      ? failure(remote.update(table, id, { name: 'ours' }, undefined, fields))
      : failure(remote.delete(table, id, undefined, fields));
  instance.faults.arm({ fault: 'server_error', kinds: [kind] });
  instance.watch = (call) => {
    if (call.kind === 'list') instance.elsewhere.update(id, { name: 'theirs' });
  };
  expect((await send()).code).toBe('changed_concurrently');
  expect(instance.store.rows.get(id)!.values.name).toBe('theirs');
  expect(instance.writes.filter(({ user }) => user === 'estate')).toEqual([]);
});

test('an unrelated record is not mistaken for a created one', async () => {
  instance.elsewhere.insert(table, { name: 'a', correlation_id: 'estate:1' });
  instance.elsewhere.insert(table, { name: 'b', correlation_id: 'estate:1' });
  await expectError(remote.findCreated(table, 'estate:1'), 'ambiguous');
  const blind = connect(instance, { correlationField: 'u_no_such_column' });
  await expectError(blind.findCreated(table, 'estate:1'), 'refused');
  await blind.close();
  await expect(remote.findCreated(table, '')).rejects.toThrow('must not be empty');
});

test.each([
  { kind: 'import_set', staging: { [table]: 'u_estate' } } as const,
  { kind: 'reconcile', source: 'Estate' } as const,
])('records can be created by $kind, once even if the response is lost', async (createApi) => {
  const other = connect(instance, { createApi });
  instance.faults.arm({ fault: 'reset_after_write' });
  const made = await other.create(table, { name: 'web' }, 'estate:1');
  expect((await other.create(table, { name: 'web' }, 'estate:1')).record.id).toBe(made.record.id);
  expect(instance.writes.filter((write) => write.kind === 'insert')).toHaveLength(1);
  instance.elsewhere.insert(table, { name: 'twin' });
  instance.elsewhere.insert(table, { name: 'twin' });
  if (createApi.kind === 'reconcile')
    await expectError(other.create(table, { name: 'twin' }, 'estate:2'), 'ambiguous');
  await other.close();
});

describe('a change between read and write', () => {
  const meet = async (theirs: Record<string, string>) => {
    const id = instance.store.ids(table)[0]!;
    instance.elsewhere.update(id, { name: 'web', os: 'Linux' });
    const look = (await remote.readByIds(table, [id], ['name', 'os'])).get(id)!;
    const { fields, version } = (look as Extract<typeof look, { kind: 'there' }>).record;
    instance.elsewhere.update(id, theirs);
    return { id, sent: remote.update(table, id, { name: 'ours', os: 'Linux 2' }, version, fields) };
  };

  test('is restored if the write has overwritten it', async () => {
    const { id, sent } = await meet({ name: 'theirs' });
    expect(await failure(sent)).toMatchObject({
      code: 'changed_concurrently',
      what: expect.stringContaining('overwrote a concurrent change of name'),
    });
    expect(instance.store.rows.get(id)!.values).toMatchObject({ name: 'theirs', os: 'Linux 2' });
  });

  test('is retained if it was in another column', async () => {
    const { id, sent } = await meet({ short_description: 'theirs' });
    expect(await sent).not.toHaveProperty('notice');
    expect(instance.store.rows.get(id)!.values).toMatchObject({ name: 'ours', short_description: 'theirs' });
    expect(instance.count('update')).toBe(1);
  });

  test('is reported if the account cannot read the audit', async () => {
    instance.accounts.get('estate')!.roles.delete('audit_reader');
    const { id, sent } = await meet({ name: 'theirs' });
    expect(await sent).toMatchObject({ notice: expect.stringContaining('see the history of the record') });
    expect(instance.store.rows.get(id)!.values.name).toBe('ours');
  });
});
