/** Relations of cards whose records a run creates. */

import { pluck } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const {
  db,
  admin,
  instance,
  connect,
  storeMapping,
  runMapping,
  settled,
  undoRun,
  applyPlan,
  staged,
  insert,
} = await openSyncTest();
const connectionId = await connect();
const type = insert('cmdb_rel_type', { name: 'Uses::Used by' });

const make = async (cardType: string, name: string): Promise<string> =>
  (await admin.card({ type: cardType, name })).id;
/** The relations outside, by the names of the records at their ends. */
const outside = () => {
  const name = (id: string | undefined) => instance.store.rows.get(id ?? '')?.values.name;
  return instance.store
    .of('cmdb_rel_ci')
    .map(({ values }) => `${name(values.parent)} > ${name(values.child)}`)
    .sort();
};
const relations = (runId: string) => staged(runId, '&action=relate');

let sources: string;
let target: string;

it('are written by the same run, also to records that are linked or existed before', async () => {
  const table = 'cmdb_ci_business_app';
  const relation = { relation_type_key: 'relAppSuccessor', remote_type: type };
  const mapping = await storeMapping({ connectionId, table, relations: [relation] });
  const there = await make('Application', 'There');
  expect((await runMapping(mapping)).stats).toMatchObject({ created: 1 });
  instance.elsewhere.insert(table, { name: 'Linked' });
  const [one, two, linked] = [
    await make('Application', 'One'),
    await make('Application', 'Two'),
    await make('Application', 'Linked'),
  ];
  await admin.relate('relAppSuccessor', one, two);
  await admin.relate('relAppSuccessor', two, there);
  await admin.relate('relAppSuccessor', there, one);
  await admin.relate('relAppSuccessor', linked, there);
  const run = await runMapping(mapping, 'run', '?auto_apply=false');
  expect(run).toMatchObject({ status: 'review', stats: { planned: { create: 2, link: 1, relate: 4 } } });
  expect(pluck(await relations(run.id), 'link')).toContainEqual(
    expect.objectContaining({ source: null, source_name: 'One', target: null, target_name: 'Two' }),
  );
  expect(await applyPlan(run.id)).toMatchObject({
    status: 'completed',
    stats: { created: 2, relations_created: 4, errors: 0, findings: 0 },
  });
  expect(outside()).toEqual(['Linked > There', 'One > Two', 'There > One', 'Two > There']);
  const pair = await db('itsm_pairs').where({ mapping_id: mapping, card_id: one }).first();
  expect((await relations(run.id)).map(({ link }) => link.source)).toContain(pair.remote_id);
  expect((await runMapping(mapping)).stats).toMatchObject({ planned: {} });

  const done = await undoRun(run.id);
  expect(done).toMatchObject({ status: 'completed', stats: { relations_deleted: 4, deleted: 2, errors: 0 } });
  expect(outside()).toEqual([]);
});

it('are written to records of another mapping, and by a mapping that only pushes', async () => {
  const targets = await storeMapping({
    connectionId,
    cardType: 'BusinessCapability',
    table: 'cmdb_ci_appl',
    direction: 'push',
  });
  sources = await storeMapping({
    connectionId,
    cardType: 'BusinessContext',
    table: 'cmdb_ci_service',
    direction: 'push',
    relations: [
      { relation_type_key: 'relBizCtxToBC', remote_type: type, target_mapping_id: targets, reversed: true },
    ],
  });
  const source = await make('BusinessContext', 'Source');
  target = await make('BusinessCapability', 'Target');
  await admin.relate('relBizCtxToBC', source, target);
  await runMapping(targets, 'push');
  const run = await runMapping(sources, 'push');
  expect(run.stats).toMatchObject({ planned: { create: 1, relate: 1 }, relations_created: 1, errors: 0 });
  expect(outside()).toEqual(['Target > Source']);
  expect((await runMapping(sources, 'push')).stats).toMatchObject({ planned: {} });
});

it('are omitted with a record that is not created', async () => {
  await admin.relate('relBizCtxToBC', await make('BusinessContext', 'Left'), target);
  const before = outside();
  const run = await runMapping(sources, 'push', '?auto_apply=false');
  expect(run).toMatchObject({ status: 'review', stats: { planned: { create: 1, relate: 1 } } });
  const reject = { action: 'create' };
  expect((await admin.post(`${base}/sync/runs/${run.id}/reject`, reject)).body).toEqual({ rows: 1 });
  await admin.post(`${base}/sync/runs/${run.id}/apply`, {});
  expect((await settled(run.id)).status).toBe('completed');
  expect(await relations(run.id)).toMatchObject([
    { outcome: 'stale', link: { source: null, source_name: 'Left', target_name: 'Target' } },
  ]);
  expect(outside()).toEqual(before);
  // what was rejected is proposed again by the next run
  expect(await runMapping(sources, 'push', '?auto_apply=false')).toMatchObject({
    status: 'review',
    complete: true,
    stats: { planned: { create: 1, relate: 1 } },
  });
});
