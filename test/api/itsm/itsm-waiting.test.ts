import { ok } from '../../support/harness.ts';
import { openSyncTest, syncBase } from '../../support/itsm.ts';

const { db, admin, instance, connect, map, runMapping, undoRun, staged, cardOf } = await openSyncTest();

const referring = (column: string, reference: string) => ({
  name: column,
  label: column,
  type: 'reference',
  reference,
});
const run = async (mapping: string) => {
  const done = await runMapping(mapping);
  expect(done).toMatchObject({ status: 'completed', stats: { errors: 0 } });
  return done;
};
const undo = async (runId: string) => {
  expect(await undoRun(runId)).toMatchObject({ status: 'completed', stats: { errors: 0 } });
};

it('references to objects of the same run are written by it to either side, and undone with it', async () => {
  const table = 'cmdb_ci_business_app';
  instance.changeField(table, referring('u_parent', table));
  const records = ['leaf', 'branch', 'trunk'].map((one) => instance.elsewhere.insert(table, { name: one }));
  const [leaf, branch, trunk] = records.map(({ values }) => values.sys_id!) as [string, string, string];
  instance.elsewhere.update(leaf, { u_parent: branch });
  instance.elsewhere.update(branch, { u_parent: trunk });
  const mapping = await map(await connect(), 'Application', table, {
    auto_apply: undefined,
    skip_staging: true,
    sync_direction: 'bidirectional',
    fields: [{ card_field: 'parent_id', remote_field: 'u_parent', transform_type: 'reference' }],
  });

  const pulled = await run(mapping);
  expect(pulled.stats).toMatchObject({ applied: { create: 3, update: 2 } });
  const parents = await db('cards as c')
    .leftJoin('cards as p', 'p.id', 'c.parent_id')
    .where('c.type', 'Application')
    .select('c.name', 'p.name as parent');
  const parentOf = Object.fromEntries(parents.map((row) => [row.name, row.parent]));
  expect(parentOf).toEqual({ leaf: 'branch', branch: 'trunk', trunk: null });
  expect((await run(mapping)).stats.planned).toEqual({});
  const [row] = await staged(pulled.id, '&action=update');
  expect(row.reason).toContain('refers to an object of this plan');

  // and the other way: below a card that has a record, and below one that is to get one
  const make = async (named: string, parent_id: string) =>
    (await admin.card({ type: 'Application', name: named, parent_id })).id;
  const { card_id } = await db('itsm_pairs').where({ mapping_id: mapping, remote_id: leaf }).first();
  await make('worm', await make('apple', card_id));
  const pushed = await run(mapping);
  expect(pushed.stats).toMatchObject({ created: 2, errors: 0, findings: 0 });
  const made = new Map(instance.store.of(table).map(({ values }) => [values.name, values]));
  expect(made.get('apple')!.u_parent).toBe(leaf);
  expect(made.get('worm')!.u_parent).toBe(made.get('apple')!.sys_id);
  expect((await run(mapping)).stats.planned).toEqual({});

  await undo(pushed.id);
  expect(instance.store.of(table)).toHaveLength(3);
  await db('cards').whereIn('name', ['apple', 'worm']).update({ status: 'ARCHIVED' });
  await undo(pulled.id);
  expect(await db('cards').where({ type: 'Application', status: 'ACTIVE' })).toEqual([]);
});

it('references to objects without a card are deferred, and planned again when the card exists', async () => {
  const table = 'cmdb_ci_service';
  // more than are looked up at once
  const count = 510;
  instance.changeField(table, referring('u_server', 'cmdb_ci_server'));
  const server = instance.elsewhere.insert('cmdb_ci_server', { name: 'server' }).values.sys_id!;
  const foreign = instance.elsewhere.insert('cmdb_ci_appl', { name: 'foreign' }).values.sys_id!;
  const ids = Array.from(
    { length: count },
    (_, n) => instance.elsewhere.insert(table, { name: `app ${n}`, u_server: server }).values.sys_id!,
  );
  const connection_id = await connect();
  const servers = await map(connection_id, 'ITComponent', 'cmdb_ci_server');
  const config = { card_field: 'relations.relAppToITC', remote_field: 'u_server' };
  const apps = await map(connection_id, 'Application', table, {
    sync_direction: 'bidirectional',
    card_filter: 'name ~ "app "',
    fields: [{ ...config, transform_type: 'reference', transform_config: { mapping_id: servers } }],
  });
  expect((await run(apps)).stats).toMatchObject({ created: count });
  const idle = async () => {
    const done = await run(apps);
    expect(done).toMatchObject({ complete: false, stats: { planned: {} } });
    expect(done.remote_calls).toBeLessThanOrEqual(5);
  };
  await idle();
  const related = async () => (await db('relations').where({ type: 'relAppToITC' })).length;
  await runMapping(servers, 'pull');
  const reached = await run(apps);
  expect([reached.stats.updated, await related()]).toEqual([count, count]);
  // no record is looked up for it
  expect(reached.remote_calls).toBeLessThanOrEqual(8);
  await idle();

  // what moves to something unknown and back is agreed on as before, whatever else changes meanwhile
  const [one] = ids as [string];
  instance.elsewhere.update(one, { u_server: foreign });
  expect((await run(apps)).stats.planned).toEqual({ skip: 1 });
  await idle();
  const { card_id } = await db('itsm_pairs').where({ mapping_id: apps, remote_id: one }).first();
  await admin.patch(`/api/v1/cards/${card_id}`, { name: 'app renamed' });
  expect((await run(apps)).stats.planned).toEqual({ update: 1, skip: 1 });
  const { values } = instance.store.rows.get(one)!;
  expect([values.name, values.u_server, await related()]).toEqual(['app renamed', foreign, count]);
  instance.elsewhere.update(one, { u_server: server });
  await run(apps);
  await admin.patch(`/api/v1/cards/${card_id}`, { name: 'app again' });
  expect((await run(apps)).stats.planned).toEqual({ update: 1 });
  expect([values.u_server, await related()]).toEqual([server, count]);
  await idle();
  expect(await db('itsm_deferred_records')).toEqual([]);
});

it('relations to a paused mapping are deferred without a row, reported once, and planned later', async () => {
  const connection_id = await connect();
  const mapped = (card_type_key: string, remote_table: string, more: object = {}) =>
    map(connection_id, card_type_key, remote_table, {
      ...more,
      sync_direction: 'bidirectional',
      max_deletion_ratio: 1,
    });
  const add = (table: string, named: string) =>
    instance.elsewhere.insert(table, { name: named }).values.sys_id!;
  const type = add('cmdb_rel_type', 'Uses::Used by');
  const context = add('cmdb_ci_linux_server', 'context');
  const [led, lost, kept] = ['led', 'lost', 'kept'].map((one) => add('cmdb_ci_appl', one));
  instance.elsewhere.insert('cmdb_rel_ci', { parent: context, child: led!, type });
  const targets = await mapped('BusinessCapability', 'cmdb_ci_appl');
  const relation = { relation_type_key: 'relBizCtxToBC', remote_type: type, target_mapping_id: targets };
  const sources = await mapped('BusinessContext', 'cmdb_ci_linux_server', { relation_mappings: [relation] });
  await run(targets);
  expect((await run(sources)).stats).toMatchObject({ relations_created: 1, relations_deferred: 0 });

  const activate = (is_active: boolean) =>
    admin.patch(`${syncBase}/mappings/${targets}`, { is_active }, { 'if-match': '*' });
  await ok(activate(false));
  for (const record of [lost!, kept!]) {
    const ends = { source_id: await cardOf(context), target_id: await cardOf(record) };
    await admin.create('/api/v1/relations', { type: 'relBizCtxToBC', ...ends });
  }
  // the remote takes a relation away with the record, and would refuse one to it
  for (const record of [led!, lost!]) instance.elsewhere.remove(record);
  const written = instance.writes.length;
  const told: number[] = [];
  for (let time = 1; time <= 2; time += 1) {
    const waits = await run(sources);
    expect(waits.stats).toMatchObject({ planned: {}, relations_deferred: 3 });
    const log = await admin.get(`${syncBase}/sync/runs/${waits.id}/log`);
    const lines = log.body.items.filter(({ message }: { message: string }) =>
      message.startsWith('Mappings that are paused or cannot run block 3 relations: BusinessCapability'),
    );
    told.push(lines.length);
  }
  expect(told).toEqual([1, 0]);
  expect(await db('relations').where({ type: 'relBizCtxToBC' })).toHaveLength(3);

  await ok(activate(true));
  // whichever of the two runs first: what leads to a record that is gone waits on
  for (const [at, planned] of [{ relate: 1, skip: 2 }, { skip: 2 }].entries()) {
    if (at > 0) await run(targets);
    const { stats } = await run(sources);
    expect(stats).toMatchObject({ planned, relations_deleted: 0, relations_deferred: 0 });
    expect(await db('relations').where({ type: 'relBizCtxToBC' })).toHaveLength(3);
  }
  const made = instance.writes.slice(written).filter(({ table }) => table === 'cmdb_rel_ci');
  expect(made.map(({ user, values }) => [user, values.child]).at(-1)).toEqual(['estate', kept]);
});
