import { populate } from '../../emulators/servicenow/landscape.ts';
import { eventKinds, expectProblem, ok, pluck, type TestClient } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const {
  t,
  db,
  admin,
  instance,
  connect,
  storeMapping,
  createMapping,
  runMapping,
  settled,
  applyPlan,
  staged,
  questions,
  insert,
  cardOf,
} = await openSyncTest();
// long ago, so that nothing of it is taken for a change that became visible late
instance.store.skew = -86_400_000;
populate(instance, {
  items: { cmdb_ci_business_app: 30, cmdb_ci_server: 120, cmdb_ci_service: 6, cmdb_ci_appl: 20 },
  relations: 0,
});
instance.store.skew = 0;
const connectionId = await connect();

const cardsOf = (type: string) => db('cards').where({ type, status: 'ACTIVE' });
const recordsOf = (table: string) => [...instance.store.of(table)];
/** How many requests a call sends. */
const callsOf = async (act: () => Promise<unknown>): Promise<number> => {
  const before = instance.calls.length;
  await act();
  return instance.calls.length - before;
};
const kinds = async (runId: string) => {
  const runs = db('events').whereRaw(`event_type like 'itsm_run.%' and data ->> 'id' = ?`, [runId]);
  return eventKinds(await runs.orderBy('position'), 'itsm_run');
};

describe('a plan in review', () => {
  let mapping: string;
  let run: Record<string, unknown> & { id: string };

  it('is listed, reported and downloaded', async () => {
    mapping = await storeMapping({ connectionId, direction: 'pull', more: { auto_apply: false } });
    run = await runMapping(mapping);
    expect(run).toMatchObject({ status: 'review', stage: 'review', complete: true, direction: 'pull' });
    expect(run.stats).toMatchObject({ fetched: 30, planned: { create: 30 } });
    const rows = await staged(run.id, '&action=create&side=local&status=pending');
    expect(rows.map(({ no }) => no)).toEqual(Array.from({ length: 30 }, (_, no) => no));
    expect(rows[0]).toMatchObject({ reason: 'The record has no card', card_id: null });
    expect(rows[0].remote_data).toMatchObject({ name: rows[0].diff.name.new });
    expect(pluck((await admin.get(`${base}/sync/runs/${run.id}/log`)).body.items, 'message')).toEqual([
      'Read everything: 30 records, 0 relations.',
      'The plan has 30 changes and waits for review: the run does not apply changes without review.',
    ]);
    const json = await admin.get(`${base}/sync/runs/${run.id}/plan`);
    expect([json.body.run.id, json.body.rows.length]).toEqual([run.id, 30]);
    const xlsx = await admin.get(`${base}/sync/runs/${run.id}/plan?format=xlsx`);
    expect(xlsx.raw.subarray(0, 2).toString()).toBe('PK');
    expect(await cardsOf('Application')).toHaveLength(0);
  });

  it('is applied row by row, except rejected rows', async () => {
    const act = (verb: string, body: object) => admin.post(`${base}/sync/runs/${run.id}/${verb}`, body);
    expect((await act('reject', { rows: [0, 1] })).body).toEqual({ rows: 2 });
    expect((await act('approve', { rows: [2, 3, 4] })).body).toEqual({ rows: 3 });
    expect((await act('approve', { rows: [99] })).body.errors[0]).toMatchObject({ field: 'rows' });
    await ok(act('apply', {}), 202);
    expect(await settled(run.id)).toMatchObject({ status: 'review', stats: { created: 3, errors: 0 } });
    await ok(act('apply', { rows: [5] }), 202);
    expect(await settled(run.id)).toMatchObject({ status: 'review', stats: { created: 4 } });
    await ok(act('apply', {}), 202);
    expect(await settled(run.id)).toMatchObject({
      status: 'completed',
      stage: 'done',
      stats: { created: 28, skipped: 2, processed: 30 },
    });
    expect(await cardsOf('Application')).toHaveLength(28);
    const rejected = { outcome: 'skipped', status: 'rejected', ended_at: expect.any(String) };
    expect(await staged(run.id, '&status=rejected')).toMatchObject([rejected, rejected]);
    expect(await staged(run.id, '&status=pending')).toEqual([]);
    expect((await act('apply', {})).body).toMatchObject({ code: 'wrong_state', run_status: 'completed' });
    expect(await kinds(run.id)).toBe(
      'started planned decided decided applying partly_applied applying partly_applied applying completed',
    );
  });

  it('omits a row whose card has changed meanwhile', async () => {
    const [changed, other] = await t.services
      .db('itsm_pairs')
      .where({ mapping_id: mapping })
      .orderBy('remote_id')
      .limit(2);
    for (const { remote_id } of [changed, other])
      instance.elsewhere.update(remote_id, { short_description: 'new outside' });
    const plan = await runMapping(mapping);
    expect(plan).toMatchObject({ status: 'review', complete: false });
    expect(plan.stats.planned).toMatchObject({ update: 2, create: 2 });
    await admin.patch(`/api/v1/cards/${changed.card_id}`, { description: 'new here' });
    const done = await applyPlan(plan.id);
    expect(done).toMatchObject({ status: 'completed', stats: { updated: 1, created: 2, errors: 1 } });
    const [stale] = await staged(plan.id, '&status=error');
    expect(stale).toMatchObject({ card_id: changed.card_id, outcome: 'stale' });
    expect(stale.error_message).toContain('new here');
    // the next run looks again, and finds a conflict
    expect((await runMapping(mapping)).stats.planned).toEqual({ conflict: 1 });
  });

  it('is superseded by a run that a user starts, and can be discarded', async () => {
    instance.elsewhere.insert('cmdb_ci_business_app', { name: 'Another one' });
    const first = await runMapping(mapping);
    expect(first.status).toBe('review');
    const reject = (id: string) => admin.post(`${base}/sync/runs/${id}/reject`, { action: 'create' });
    expect((await reject(first.id)).body).toEqual({ rows: 1 });
    const second = await runMapping(mapping);
    expect((await reject(second.id)).body).toEqual({ rows: 1 });
    const { body } = await admin.get(`${base}/sync/runs?mapping_id=${mapping}&page_size=2`);
    expect(pluck(body.items, 'id', 'status')).toEqual([
      [second.id, 'review'],
      [first.id, 'superseded'],
    ]);
    const cancelled = await admin.post(`${base}/sync/runs/${second.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: 'cancelled' });
    for (const { id } of [first, second])
      expect(await staged(id, '&status=rejected')).toMatchObject([{ action: 'create', outcome: 'skipped' }]);
    await expectProblem(admin.post(`${base}/sync/runs/${second.id}/cancel`), 409);
    await db('itsm_mappings').where({ id: mapping }).update({ is_active: false });
    expect((await admin.post(`${base}/sync/pull/${mapping}`)).body.code).toBe('wrong_state');
    await db('itsm_mappings').where({ id: mapping }).update({ is_active: true });
    expect((await admin.post(`${base}/sync/push/${mapping}`)).body.code).toBe('wrong_state');
  });
});

describe('a bidirectional mapping', () => {
  let mapping: string;

  it('pulls everything once, and then needs few requests to find no changes', async () => {
    mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: 'cmdb_ci_server' });
    const first = await runMapping(mapping);
    expect(first).toMatchObject({ status: 'completed', stats: { fetched: 120, created: 120, errors: 0 } });
    expect(await cardsOf('ITComponent')).toHaveLength(120);
    let second: Record<string, unknown> = {};
    const calls = await callsOf(async () => {
      second = await runMapping(mapping);
    });
    expect(second).toMatchObject({ status: 'completed', complete: false, stats: { planned: {} } });
    expect(calls).toBeLessThanOrEqual(5);
  });

  it('pulls exactly what was changed and deleted', async () => {
    for (const [at, { values }] of recordsOf('cmdb_ci_server').slice(0, 110).entries()) {
      if (at < 100) instance.elsewhere.update(values.sys_id!, { short_description: `edited ${at}` });
      else instance.elsewhere.remove(values.sys_id!);
    }
    const run = await runMapping(mapping);
    expect(run.stats.planned).toEqual({ update: 100, quarantine: 10 });
    expect(run).toMatchObject({ status: 'completed', stats: { updated: 100, deleted: 0 } });
    const after = await runMapping(mapping);
    expect(after).toMatchObject({ status: 'completed', stats: { deleted: 10, updated: 0 } });
    const cards = await cardsOf('ITComponent');
    expect(cards).toHaveLength(110);
    expect(cards.filter(({ description }) => /^edited/.test(description))).toHaveLength(100);
  });

  it('pushes changes, and creates review items for conflicts', async () => {
    const [mine, both, apart] = await t.services
      .db('itsm_pairs')
      .where({ mapping_id: mapping, state: 'linked' })
      .orderBy('remote_id')
      .limit(3);
    await admin.patch(`/api/v1/cards/${mine.card_id}`, { description: 'changed here' });
    await admin.patch(`/api/v1/cards/${both.card_id}`, { description: 'ours' });
    instance.elsewhere.update(both.remote_id, { short_description: 'theirs' });
    await ok(admin.post(`${base}/mappings/${mapping}/pairs/${apart.remote_id}/unmap`), 204);
    instance.elsewhere.update(apart.remote_id, { short_description: 'not for us' });
    const made = await admin.card({ type: 'ITComponent', name: 'Made here' });

    const run = await runMapping(mapping);
    expect(run.stats.planned).toEqual({ conflict: 1, create: 1, update: 1 });
    expect(run).toMatchObject({ status: 'completed', stats: { updated: 1, created: 1, findings: 0 } });
    const described = (id: string) => instance.store.rows.get(id)!.values.short_description;
    expect(described(mine.remote_id)).toBe('changed here');
    const { remote_id } = await db('itsm_pairs').where({ card_id: made.id }).first();
    expect(instance.store.rows.get(remote_id)!.values.name).toBe('Made here');

    const asked = await questions(mapping, '&kind=conflict');
    expect(asked).toMatchObject([{ path: 'description', local: 'ours', remote: 'theirs' }]);
    const answer = `${base}/questions/${asked[0].id}/answer`;
    await expectProblem(admin.post(answer, { card_id: null }), 422);
    await ok(admin.post(answer, { winner: 'remote' }), 204);
    await expectProblem(admin.post(answer, { winner: 'remote' }), 404);
    await ok(admin.post(`${base}/mappings/${mapping}/pairs/${apart.remote_id}/map`), 204);
    const settledRun = await runMapping(mapping);
    expect(settledRun).toMatchObject({ status: 'completed', stats: { updated: 2, created: 0 } });
    const descriptions = await t.services
      .db('cards')
      .whereIn('id', [both.card_id, apart.card_id])
      .pluck('description');
    expect(descriptions.sort()).toEqual(['not for us', 'theirs']);
    expect((await runMapping(mapping)).stats.planned).toEqual({});
  });

  it('is stopped by the deletion limit until a user overrides it', async () => {
    for (const { values } of recordsOf('cmdb_ci_server').slice(0, 80))
      instance.elsewhere.remove(values.sys_id!);
    const run = await runMapping(mapping);
    expect(run).toMatchObject({ status: 'review' });
    expect(run.stopped).toContain('80 removals');
    const apply = (body: object) => admin.post(`${base}/sync/runs/${run.id}/apply`, body);
    expect((await apply({})).body).toMatchObject({ code: 'wrong_state', stopped: run.stopped });
    await ok(apply({ override_limit: true }), 202);
    expect(await settled(run.id)).toMatchObject({
      status: 'completed',
      limit_overridden_by: admin.userId,
      stats: { outcomes: { applied: 80 } },
    });
  });
});

it('relations are created with the cards, across mappings, and follow both sides', async () => {
  const services = recordsOf('cmdb_ci_service').map(({ values }) => values.sys_id!);
  const processes = recordsOf('cmdb_ci_appl').map(({ values }) => values.sys_id!);
  const [type] = recordsOf('cmdb_rel_type').map(({ values }) => values.sys_id!);
  const relate = (parent: string, child: string) => insert('cmdb_rel_ci', { parent, child, type: type! });
  const remote = processes.slice(0, 10).map((child, at) => relate(services[at % 6]!, child));
  // of the same kind, but not to what the mapping relates to
  const beside = relate(services[0]!, services[1]!);

  const targets = await storeMapping({ connectionId, cardType: 'BusinessCapability', table: 'cmdb_ci_appl' });
  const sources = await storeMapping({
    connectionId,
    cardType: 'BusinessContext',
    table: 'cmdb_ci_service',
    relations: [{ relation_type_key: 'relBizCtxToBC', remote_type: type!, target_mapping_id: targets }],
  });
  await runMapping(targets);
  const first = await runMapping(sources);
  expect(first.stats).toMatchObject({ relations_fetched: 11, planned: { create: 6, relate: 10 }, errors: 0 });
  const [row] = await staged(first.id, '&action=relate');
  expect(row).toMatchObject({
    name: null,
    link: {
      relation_type_key: 'relBizCtxToBC',
      relation_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      source_name: expect.stringMatching(/^Service /),
      target_name: expect.stringMatching(/^Process /),
    },
  });
  const relations = () => db('relations').where({ type: 'relBizCtxToBC' }).orderBy('id');
  expect(await relations()).toHaveLength(10);
  let second: Record<string, unknown> = {};
  const calls = await callsOf(async () => {
    second = await runMapping(sources);
  });
  expect(second).toMatchObject({ status: 'completed', stats: { planned: {} } });
  expect(calls).toBeLessThanOrEqual(8);

  // one goes and one comes on each side
  instance.elsewhere.remove(remote[0]!);
  instance.elsewhere.insert('cmdb_rel_ci', { parent: services[0]!, child: processes[15]!, type: type! });
  const [from, gone, come] = await Promise.all([services[1]!, processes[1]!, processes[16]!].map(cardOf));
  const lost = (await relations()).find(
    ({ source_id, target_id }) => source_id === from && target_id === gone,
  );
  await ok(admin.delete(`/api/v1/relations/${lost.id}`), 204);
  await admin.relate('relBizCtxToBC', from!, come!);
  expect(await runMapping(sources)).toMatchObject({
    status: 'completed',
    stats: { planned: { relate: 2, unrelate: 2 }, errors: 0 },
  });
  const outside = recordsOf('cmdb_rel_ci')
    .filter(({ values }) => values.sys_id !== beside)
    .map(({ values }) => `${values.parent} ${values.child}`);
  const held = await db('itsm_links').where({ mapping_id: sources });
  expect(held.map(({ source, target }) => `${source} ${target}`).sort()).toEqual(outside.sort());
  expect(await relations()).toHaveLength(10);
  expect((await runMapping(sources)).stats.planned).toEqual({});
});

it('a review item names record and candidate cards, and shows costs to those who may see them', async () => {
  const twins = [];
  const description = 'one of two';
  for (const name of ['Castor', 'Pollux'])
    twins.push((await admin.card({ type: 'Application', name, description })).id);
  const twin = instance.elsewhere.insert('cmdb_ci_appl', {
    name: 'Twin',
    short_description: description,
    cost: '4711.25',
  });
  const mapping = await createMapping({
    connection_id: connectionId,
    card_type_key: 'Application',
    remote_table: 'cmdb_ci_appl',
    filter_query: 'name=Twin',
    field_mappings: [
      { card_field: 'name', remote_field: 'name' },
      { card_field: 'description', remote_field: 'short_description', is_identity: true },
      { card_field: 'attributes.costTotalAnnual', remote_field: 'cost' },
    ],
  });
  const run = await runMapping(mapping);
  expect(run.stats.planned).toEqual({ stage: 1 });
  const candidates = twins.map((card_id) => expect.objectContaining({ card_id }));
  expect(await staged(run.id)).toMatchObject([
    { action: 'stage', name: 'Twin', remote_id: twin.values.sys_id, reason: expect.any(String) },
  ]);
  const ask = async (client: TestClient) => await ok(client.get(`${base}/questions?mapping_id=${mapping}`));
  const { items } = await ask(admin);
  expect(items).toMatchObject([
    { kind: 'match', record_name: 'Twin', remote: { 'attributes.costTotalAnnual': 4711.25 } },
  ]);
  expect(items[0].candidates).toEqual(expect.arrayContaining(candidates));

  const without = await t.holding('itsm_sync.view', 'inventory.view');
  const shown = (await ask(without)).items[0];
  expect(shown).toMatchObject({ record_name: 'Twin', remote: { name: 'Twin' } });
  expect(JSON.stringify(shown)).not.toContain('4711.25');
  expect((await without.get(`${base}/sync/runs/${run.id}/staged`)).text).not.toContain('4711.25');
  const blind = await t.holding('itsm_sync.view');
  for (const path of ['questions', `sync/runs/${run.id}/staged`, `sync/runs/${run.id}/plan`])
    expect((await blind.get(`${base}/${path}`)).body).toMatchObject({ permission: 'inventory.view' });
  await ok(blind.get(`${base}/sync/runs/${run.id}`));
});
