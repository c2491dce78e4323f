import { ok } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';
import { untilStatus } from '../../support/jobs.ts';

const { t, db, admin, instance, connect, storeMapping, runMapping, settled, staged, insert, cardOf } =
  await openSyncTest();
const connectionId = await connect();

const make = async (type: string, name: string): Promise<string> => (await admin.card({ type, name })).id;

it('a run is undone by a job, except for later changes, which are reported by row', async () => {
  const table = 'cmdb_ci_server';
  for (const name of ['One', 'Two', 'Three']) insert(table, { name });
  const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table });
  const run = await runMapping(mapping);
  expect(run.stats).toMatchObject({ created: 3 });
  const cards = db('cards').where({ type: 'ITComponent' });
  const two = await cards.clone().where({ name: 'Two' }).first();
  await admin.patch(`/api/v1/cards/${two.id}`, { description: 'changed since' });
  const undo = () => admin.post(`${base}/sync/runs/${run.id}/undo`);
  const started = await ok(undo(), 202);
  expect(started).toMatchObject({ trigger: 'undo', undo_of: run.id, planned_at: null });
  const back = await settled(started.id);
  expect(back.stats).toMatchObject({ planned: { delete: 3 }, deleted: 2, errors: 1 });
  expect(await staged(back.id, '&status=error')).toMatchObject([
    { card_id: two.id, outcome: 'stale', error_message: expect.stringContaining('changed since') },
  ]);
  expect(await cards.clone().where({ status: 'ACTIVE' }).pluck('name')).toEqual(['Two']);
  const { body } = await undo();
  expect(body).toMatchObject({ code: 'wrong_state', detail: expect.stringContaining('already') });
  // it finds what it found before, and proposes it again, though nothing has changed over there
  const later = { watermark: db.raw(`now() + interval '1 hour'`) };
  await db('itsm_sync_states').where({ mapping_id: mapping }).update(later);
  const next = await runMapping(mapping, 'run', '?auto_apply=false');
  expect(next).toMatchObject({ complete: false, stats: { planned: { create: 2 } } });
  await admin.post(`${base}/sync/runs/${next.id}/cancel`);
});

it('cards merged repeatedly are replaced by the survivor, also at the ends of relations', async () => {
  const type = insert('cmdb_rel_type', { name: 'Uses::Used by' });
  const target = insert('cmdb_ci_appl', { name: 'Target' });
  const source = insert('cmdb_ci_service', { name: 'Source' });
  const targets = await storeMapping({ connectionId, cardType: 'BusinessCapability', table: 'cmdb_ci_appl' });
  const sources = await storeMapping({
    connectionId,
    cardType: 'BusinessContext',
    table: 'cmdb_ci_service',
    relations: [{ relation_type_key: 'relBizCtxToBC', remote_type: type, target_mapping_id: targets }],
  });
  await runMapping(targets);
  await runMapping(sources);
  const halfway = await make('BusinessContext', 'Halfway');
  const last = await make('BusinessContext', 'In the end');
  for (const [survivor_id, merged] of [
    [halfway, await cardOf(source)],
    [last, halfway],
  ])
    await ok(admin.post('/api/v1/cards/merge', { survivor_id, merged_ids: [merged] }));
  await admin.relate('relBizCtxToBC', last, await cardOf(target));
  const run = await runMapping(sources);
  expect(run.stats).toMatchObject({ planned: { relate: 1 }, errors: 0 });
  const [row] = await staged(run.id, '&action=relate');
  expect(row!.link).toMatchObject({ source, source_name: 'In the end', target_name: 'Target' });
  const { body } = await admin.get(`${base}/mappings/${sources}/coverage`);
  expect(body.cards).toMatchObject({ total: 1, paired: 1 });
});

it('a mapping that is changed needs a full read only if the change may affect unchanged records', async () => {
  const table = 'cmdb_ci_service';
  const type = insert('cmdb_rel_type', { name: 'Kept by::Keeps' });
  const fields = [
    { card_field: 'name', remote_field: 'name', is_identity: true, direction: 'remote_leads' },
    { card_field: 'description', remote_field: 'short_description', direction: 'remote_leads' },
  ];
  const made = await admin.create(`${base}/mappings`, {
    connection_id: connectionId,
    card_type_key: 'DataObject',
    remote_table: table,
    auto_apply: true,
    field_mappings: fields,
  });
  expect(made).toMatchObject({ auto_apply: true, skip_staging: true });
  const { id } = made;
  const completeAfter = async (patch: object): Promise<boolean> => {
    await ok(admin.patch(`${base}/mappings/${id}`, patch));
    const run = await runMapping(id);
    expect(run.status).toBe('completed');
    return run.complete;
  };
  expect(await completeAfter({})).toBe(true);
  await admin.patch(`${base}/mappings/${id}`, { is_active: false });
  const pause = {
    is_active: true,
    schedule: { cron: '0 3 * * *' },
    max_deletions: 7,
    auto_apply_max_changes: 50,
  };
  expect(await completeAfter(pause)).toBe(false);
  const ruled = fields.map((field) => ({ ...field, direction: 'manual' }));
  expect(await completeAfter({ field_mappings: ruled, card_defaults: { alias: 'from outside' } })).toBe(
    false,
  );
  expect(await completeAfter({ filter_query: 'name!=Nobody' })).toBe(true);
  expect(await completeAfter({ field_mappings: ruled.slice(0, 1) })).toBe(true);
  const relation = { relation_type_key: 'relDataObjectSuccessor', remote_type: type };
  expect(await completeAfter({ relation_mappings: [relation] })).toBe(false);
  const both = await admin.patch(`${base}/mappings/${id}`, { auto_apply: true, skip_staging: false });
  expect(both.body.errors).toMatchObject([{ field: 'skip_staging', code: 'contradiction' }]);
  const old = await admin.patch(`${base}/mappings/${id}`, { skip_staging: false });
  expect(old.body).toMatchObject({ auto_apply: false, skip_staging: false });
});

it('a run that fails permanently ends with its job, and reports what failed', async () => {
  const mapping = await storeMapping({ connectionId, cardType: 'Provider' });
  instance.faults.arm({ fault: 'unauthorised', table: 'cmdb_ci_business_app', times: 100 });
  const { body } = await admin.post(`${base}/sync/run/${mapping}`);
  const job = await untilStatus(t.services, body.job_id, 'failed', 30_000);
  const { body: run } = await admin.get(`${base}/sync/runs/${body.id}`);
  expect(run).toMatchObject({ status: 'failed', error_code: 'credentials_refused' });
  instance.heal();
  expect(run.stats.seconds).toMatchObject({ read: expect.any(Number) });
  expect(job.error).toEqual({ code: 'upstream_failed', message: run.error_message });
  expect(run.remote_calls).toBeGreaterThan(0);
  const log = await admin.get(`${base}/sync/runs/${body.id}/log?level=error`);
  expect(log.body.items).toMatchObject([{ message: run.error_message }]);

  // retrying its job is refused, and the message says to start another run
  const again = await admin.post(`/api/v1/jobs/${body.job_id}/retry`);
  expect(again.body).toMatchObject({ status: 409, code: 'job_not_retryable', job_status: 'failed' });
  const [, path] = /POST (\/api\/v1\/\S+)\.$/.exec(again.body.detail)!;
  expect(path).toBe(`${base}/sync/run/${mapping}`);
  expect(await settled((await admin.post(path!)).body.id)).toMatchObject({ status: 'completed' });
});
