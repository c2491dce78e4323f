import { randomUUID } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { cleanUp } from '../../../../domain/app/housekeeping.ts';
import { command } from '../../../../domain/kernel/command.ts';
import { feedEnds } from '../../../../domain/kernel/events/changes.ts';
import { storeContent, storeFile } from '../../../../domain/kernel/files/files.store.ts';
import { storeMapping } from '../../../integrations/exchange/itsm/stored.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { storeRun } from '../../../support/itsm.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const run = async () => await cleanUp(t.services.db, t.services.blobs, new AbortController().signal);

const key = (name: string, hours: number) => ({
  user_id: randomUUID(),
  key: name,
  request_hash: 'x',
  created_at: ago(hours),
});
const job = (kind: string, days: number, more = {}) => ({
  kind,
  queue: 'bulk',
  status: 'succeeded',
  finished_at: ago(days * 24),
  ...more,
});
const facts = { name: 'x.csv', mediaType: 'text/csv', ownerId: null, withCosts: false, needs: [] };

it('removes expired rows and keeps the others', async () => {
  await db('idempotency_keys').insert([key('old', 25), key('young', 23)]);
  await db('revoked_tokens').insert([
    { jti: randomUUID(), expires_at: ago(1) },
    { jti: randomUUID(), expires_at: ago(-1) },
  ]);
  const [user] = await db('users')
    .insert({ email: 'a@estate.example', display_name: 'A', role: 'viewer' })
    .returning('id');
  await db('web_sessions').insert(
    [1, -1].map((hours) => ({
      id: randomUUID(),
      user_id: user.id,
      token_version: 1,
      created_at: ago(200),
      expires_at: ago(hours),
      address: '127.0.0.1',
    })),
  );
  await db('throttles').insert([
    { key: 'old', window_start: ago(2), hits: 1 },
    { key: 'young', window_start: ago(0), hits: 1 },
  ]);
  await db('one_time_tokens').insert([
    { hash: 'old', purpose: 'ticket', expires_at: ago(1) },
    { hash: 'young', purpose: 'ticket', expires_at: ago(-1) },
  ]);
  expect(await run()).toMatchObject({
    idempotency_keys: 1,
    revoked_tokens: 1,
    web_sessions: 1,
    throttles: 1,
    one_time_tokens: 1,
    jobs: 0,
    events: 0,
    files: 0,
    contents: 0,
  });
  expect(await db('idempotency_keys').pluck('key')).toEqual(['young']);
  expect(await db('throttles').pluck('key')).toEqual(['young']);
});

it('removes finished jobs after the days of their kind, with their files', async () => {
  const file = await storeFile(t.services, Readable.from(['x']), { ...facts, expiresAt: null });
  await db('jobs').insert([
    job('export', 31, { result_file_id: file.id }),
    job('export', 29),
    job('import', 31),
    job('import', 91),
    job('kind of another version', 89),
    job('kind of another version', 91),
    { kind: 'export', queue: 'bulk', created_at: ago(24_000) },
  ]);
  expect(await run()).toMatchObject({ jobs: 3, files: 1 });
  await expect(t.services.blobs.get(file.id)).rejects.toThrow();
  expect(await db('jobs').count().first()).toEqual({ count: 4 });
});

it('removes the oldest events and tells readers where the feed begins', async () => {
  for (let n = 0; n < 3; n += 1) {
    const changes = { status: { old: 'ACTIVE', new: 'ARCHIVED' } };
    await command(await t.ctx(), async ({ emit }) =>
      emit({
        event_type: 'card.archived',
        card_id: randomUUID(),
        card_type: 'Application',
        data: { changes },
      }),
    );
  }
  const oldValues = () => db('card_old_values').orderBy('position').pluck('position');
  const positions: number[] = await db('events').orderBy('position').pluck('position');
  await db('events')
    .whereIn('position', positions.slice(0, -1))
    .update({ at: ago(401 * 24) });
  expect(await run()).toMatchObject({ events: positions.length - 1 });
  expect(await feedEnds(db)).toEqual({ purgedThrough: positions.at(-2), newest: positions.at(-1) });
  expect(await oldValues(), 'what is kept beside events goes with them').toEqual(positions.slice(-1));
  await db('events').update({ at: ago(401 * 24) });
  expect(await run()).toMatchObject({ events: 1 });
  expect(await feedEnds(db)).toEqual({ purgedThrough: positions.at(-1), newest: positions.at(-1) });
  expect(await oldValues()).toEqual([]);
  expect(await run()).toMatchObject({ events: 0 });
});

it('removes abandoned contents, and those of expired files', async () => {
  const { services } = t;
  const expired = await storeFile(services, Readable.from(['1']), { ...facts, expiresAt: ago(1) });
  const kept = await storeFile(services, Readable.from(['2']), { ...facts, expiresAt: null });
  const abandoned = await storeContent(services.blobs, Readable.from(['3']));
  const young = await storeContent(services.blobs, Readable.from(['4']));
  const folder = path.join(services.config.dataDir, 'files');
  for (const { id } of [kept, abandoned]) await utimes(path.join(folder, id.slice(-2), id), ago(25), ago(25));
  expect(await run()).toMatchObject({ files: 1, contents: 1 });
  const left: string[] = [];
  for (const shelf of await readdir(folder)) left.push(...(await readdir(path.join(folder, shelf))));
  expect(left.sort()).toEqual([kept.id, young.id].sort());
  expect(await services.db('files').pluck('id')).toEqual([kept.id]);
  expect(left).not.toContain(expired.id);
});

it('keeps things as long as the settings say', async () => {
  await db('idempotency_keys').delete();
  await db('jobs').delete();
  await db('settings').insert({
    key: 'workspace.retention',
    value: JSON.stringify({
      events_days: 500,
      jobs_days: 10,
      notifications_days: 180,
      files_days: 30,
      idempotency_hours: 48,
      batches_days: 3,
    }),
  });
  await db('idempotency_keys').insert([key('old', 49), key('young', 47)]);
  // housekeeping itself is remembered for a week only
  await db('jobs').insert([job('import', 11), job('import', 9), job('housekeeping', 8)]);
  await db('mutation_batches').delete();
  const batch = (days: number) => ({
    id: randomUUID(),
    tool_name: 'test',
    origin: 'system',
    created_at: ago(days * 24),
  });
  await db('mutation_batches').insert([batch(4), batch(2)]);
  for (const days of [501, 450]) {
    await command(await t.ctx(), async ({ emit }) => emit({ event_type: 'auth.login', data: {} }));
    const { position } = (await db('events').max('position as position').first())!;
    await db('events')
      .where({ position })
      .update({ at: ago(days * 24) });
  }
  expect(await run()).toMatchObject({ idempotency_keys: 1, jobs: 2, batches: 1, events: 1 });
});

it('removes old runs of synchronisations, but for those that are still needed', async () => {
  const plain = { card_type_key: 'Application', remote_table: 'x', sync_direction: 'pull' } as const;
  const { mappingId: mapping_id } = await storeMapping(db, plain);
  const past = async (name: string, days: number, more: Record<string, unknown> = {}) => {
    const stats = JSON.stringify({ planned: { create: 30_000 } });
    const ended = { status: 'completed', stage: 'done', completed_at: ago(days * 24) };
    return await storeRun(db, mapping_id, { ...ended, error_message: name, stats, ...more });
  };
  const applied = async (run_id: string) =>
    await db('itsm_plan_rows').insert({ run_id, no: 0, action: 'create', row: {}, progress: 'applied' });
  for (const name of ['old 1', 'old 2', 'old 3']) await applied(await past(name, 200));
  await applied(await past('can be taken back', 150));
  const back = await past('was taken back', 140);
  await applied(back);
  await past('takes back', 139, { undo_of: back, trigger: 'undo' });
  await past('has failed', 130, { status: 'failed' });
  await past('of a mapping that is gone', 130, { mapping_id: null });
  await past('was completed last', 120);
  await past('waits for review', 110, { status: 'review', completed_at: null });
  await past('is young', 80, { status: 'failed' });
  await db('itsm_pairs').insert({
    mapping_id,
    remote_id: 'r',
    card_id: back,
    origin: 'pulled',
    state: 'linked',
  });
  expect(await run()).toMatchObject({ itsm_runs: 7 });
  const messages = await db('itsm_runs').orderBy('id').pluck('error_message');
  expect(messages).toEqual(['can be taken back', 'was completed last', 'waits for review', 'is young']);
  expect(await db('itsm_plan_rows').count().first()).toEqual({ count: 1 });
  expect(await db('itsm_pairs').pluck('remote_id')).toEqual(['r']);
  expect(await run()).toMatchObject({ itsm_runs: 0 });
});

it('removes old runs of analyses, but for those of which something shown comes, and models that nothing uses', async () => {
  const old = ago(401 * 24);
  const kept = {
    completed: randomUUID(),
    searched: randomUUID(),
    running: randomUUID(),
    young: randomUUID(),
  };
  const gone = [randomUUID(), randomUUID()];
  const row = (id: string, analysis_type: string, status: string, completed_at: Date | null) => ({
    id,
    analysis_type,
    status,
    completed_at,
    created_at: completed_at ?? old,
  });
  await db('analysis_runs').insert([
    row(gone[0]!, 'vendors', 'completed', ago(402 * 24)),
    row(kept.completed, 'vendors', 'completed', old),
    row(gone[1]!, 'vendors', 'failed', old),
    row(kept.young, 'vendors', 'failed', ago(1)),
    row(kept.running, 'compliance', 'running', null),
    row(kept.searched, 'duplicates', 'cancelled', old),
  ]);
  const model = (id: string, learned_at: Date) => ({
    id,
    card_type: 'Application',
    fields: '[]',
    weights: '{}',
    learned_at,
  });
  await db('duplicate_models').insert([model('used', old), model('unused', old), model('new', ago(1))]);
  await db('duplicate_states').insert({
    card_type: 'Application',
    run_id: kept.searched,
    model_id: 'used',
    base_model: Buffer.from(''),
    snapshot: Buffer.from(''),
    figures: '{}',
    found_at: old,
  });
  await db('compliance_readings').insert({
    regulation: 'gdpr',
    rule_key: 'special-data-read',
    card_id: randomUUID(),
    digest: 'x',
    applies: true,
    quote: 'words of a card that is gone',
  });
  expect(await run()).toMatchObject({ analysis_runs: 2, duplicate_models: 1, compliance_readings: 1 });
  expect((await db('analysis_runs').pluck('id')).sort()).toEqual(Object.values(kept).sort());
  expect((await db('duplicate_models').pluck('id')).sort()).toEqual(['new', 'used']);
});
