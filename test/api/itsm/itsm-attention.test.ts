import { changeRun } from '../../../domain/exchange/itsm/runs.commands.ts';
import { hasChanged, listFollowers, readNewestPosition } from '../../../domain/exchange/itsm/runs.due.ts';
import { command } from '../../../domain/kernel/command.ts';
import { fireIfDue } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { startItsmFollower } from '../../../workers/exchange/itsm-follower.ts';
import { itsmRunProcessor } from '../../../workers/exchange/itsm-run.ts';
import type { Loop } from '../../../workers/loop.ts';
import { itsmScheduleProcessor } from '../../../workers/processors.ts';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, ok, openApp } from '../../support/harness.ts';
import { connectTo, startInstance, storeRun, syncBase } from '../../support/itsm.ts';
import { tellAll, toldTo } from '../../support/notifications.ts';
import { until } from '../../support/until.ts';

const base = `${syncBase}/mappings`;

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const instance = closeAfterAll(await startInstance());
const connection = await connectTo(admin, instance);

let tables = 0;
async function create(more: object = {}) {
  tables += 1;
  return (await admin.create(base, {
    connection_id: connection,
    card_type_key: 'Application',
    remote_table: `u_table_${tables}`,
    sync_direction: 'push',
    field_mappings: [{ card_field: 'name', remote_field: 'name', is_identity: true }],
    ...more,
  })) as { id: string };
}

const run = (mapping: { id: string }, more: object = {}): Promise<string> =>
  storeRun(db, mapping.id, { direction: 'push', trigger: 'schedule', status: 'running', ...more });
/** Lets a run of the mapping come to a point. */
async function reach(mapping: { id: string }, status: string, more: object = {}, made: object = {}) {
  const id = await run(mapping, made);
  const ended = status === 'review' ? {} : { completed_at: db.fn.now() };
  const events: Record<string, string> = { failed: 'failed', completed: 'completed', review: 'planned' };
  await command(await t.ctx(), (work) =>
    changeRun(work, id, `itsm_run.${events[status]}` as never, { status, ...ended, ...more } as never),
  );
  if (status === 'review') await db('itsm_runs').where({ id }).update({ status: 'cancelled' });
  return id;
}

describe('the owner of a mapping is notified', () => {
  const titles = async () => {
    await tellAll(t.services);
    const told = await toldTo(t.services, admin.userId);
    return told.filter(({ type }) => type === 'itsm_attention').map(({ title }) => title);
  };
  // several problems within a short time are one notification
  beforeEach(async () => {
    await db('notifications').delete();
  });
  const since = async (before: string[]) => (await titles()).slice(before.length);

  it('once when runs fail, and once when they succeed again', async () => {
    const mapping = await create();
    const name = `The synchronisation of Application with u_table_${tables}`;
    const before = await titles();
    await reach(mapping, 'failed', { error_message: 'The remote is away.' });
    await reach(mapping, 'failed', { error_message: 'The remote is away.' });
    expect(await since(before)).toEqual([`${name} has failed`]);
    await reach(mapping, 'completed');
    await reach(mapping, 'completed');
    expect(await since(before)).toEqual([`${name} has failed`, `${name} works again`]);
    await reach(mapping, 'failed', { error_message: 'Away.' });
    // a day later
    await db('itsm_mappings')
      .where({ id: mapping.id })
      .update({ notified_at: db.raw(`now() - interval '25 hours'`) });
    await reach(mapping, 'failed', { error_message: 'Away.' });
    expect((await since(before)).slice(2)).toEqual([`${name} has failed`, `${name} has failed`]);
  });

  it('of plans in review and review items, but not of the plan of a run that a user started', async () => {
    const before = await titles();
    await reach(await create(), 'review', {}, { trigger: 'manual' });
    expect(await since(before)).toEqual([]);
    await reach(await create(), 'review');
    await reach(await create(), 'review', { stopped: '9 removals are too many.' }, { trigger: 'manual' });
    const asked = await create();
    await db('itsm_review_items').insert({
      mapping_id: asked.id,
      kind: 'match',
      remote_id: 'x',
      reason: 'y',
    });
    await reach(asked, 'completed');
    const shown = (await since(before)).map((title) => title.replace(/^.*u_table_\d+ /, ''));
    expect(shown).toEqual(['waits for a decision', 'was stopped', 'has open questions']);
  });

  it('when the remote table has changed', async () => {
    const before = await titles();
    const mapping = await create();
    await command(await t.ctx(), async ({ emit }) =>
      emit({
        event_type: 'itsm_mapping.drifted',
        data: {
          id: mapping.id,
          card_type_key: 'Application',
          remote_table: 'u_x',
          reason: 'The column is gone.',
          recipients: [admin.userId],
          changes: {},
        },
      }),
    );
    expect(await since(before)).toEqual([
      'The table of the synchronisation of Application with u_x has changed',
    ]);
  });
});

it('the health of a connection shows runs, open plans and review items, and the rate limiter', async () => {
  const own = await admin.post(`${syncBase}/connections`, {
    name: 'Of its own',
    instance_url: 'https://127.0.0.1:9',
    username: 'somebody',
    password: 'secret',
  });
  const url = `${syncBase}/connections/${own.body.id}/health`;
  expect(await ok(admin.get(url))).toMatchObject({
    status: 'ok',
    last_success_at: null,
    consecutive_failures: 0,
    mappings: { total: 0, active: 0, drifted: 0 },
    limiter: { rate: 20, circuit: 'closed', budget: null },
  });
  // looking leaves nothing behind
  expect(await db('itsm_account_limits').where('account', 'like', '%somebody')).toEqual([]);
  const mapping = await create({ connection_id: own.body.id });
  const at = (hours: number) => db.raw(`now() - interval '${hours} hours'`);
  const of = { connection_id: own.body.id, remote_calls: 5 };
  await run(mapping, { ...of, status: 'failed', completed_at: at(9), error_message: 'Long ago.' });
  await run(mapping, { ...of, status: 'completed', completed_at: at(8), created_at: at(30) });
  await run(mapping, { ...of, status: 'failed', completed_at: at(7), error_message: 'Away.' });
  await run(mapping, { ...of, status: 'review' });
  await db('itsm_account_limits').insert({
    account: '127.0.0.1:9 somebody',
    state: JSON.stringify({
      rate: 3,
      pausedUntil: 0,
      openUntil: Date.now() + 60_000,
      rule: { limit: 100, remaining: 40, resetAt: Date.now() + 60_000, windowMs: null },
      pageScale: 0.5,
    }),
  });
  expect((await admin.get(url)).body).toMatchObject({
    status: 'failing',
    last_failure: 'Away.',
    consecutive_failures: 1,
    plans_in_review: 1,
    calls_last_day: 15,
    mappings: { total: 1, active: 1 },
    limiter: { rate: 3, circuit: 'open', budget: { limit: 100, remaining: 40 }, page_scale: 0.5 },
  });
  await admin.patch(`${syncBase}/connections/${own.body.id}`, { is_active: false });
  expect((await admin.get(url)).body.status).toBe('paused');
  await expectProblem(admin.get(`${syncBase}/connections/${mapping.id}/health`), 404);
});

it('a slot that was missed while the service was down is run once afterwards, in its time zone', async () => {
  const mapping = await create({
    is_active: false,
    schedule: { cron: '30 2 * * *', time_zone: 'Europe/Berlin' },
  });
  const key = `itsm:${mapping.id}`;
  const since = (moment: string) =>
    db('job_schedules').where({ key }).update({ last_slot: null, updated_at: moment });
  const slot = async (now: string) => (await fireIfDue(db, key, new Date(now)))?.toISOString();
  await since('2026-01-10T12:00:00Z');
  expect(await slot('2026-01-11T01:29:59Z')).toBeUndefined();
  // down for three days
  expect(await slot('2026-01-14T08:00:00Z')).toBe('2026-01-14T01:30:00.000Z');
  expect(await slot('2026-01-14T08:00:01Z')).toBeUndefined();
  expect(await slot('2026-01-15T01:30:00Z')).toBe('2026-01-15T01:30:00.000Z');
  // the clock is put forward at two and back at three
  await since('2026-03-28T12:00:00Z');
  expect(await slot('2026-03-29T12:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
  expect(await slot('2026-03-30T12:00:00Z')).toBe('2026-03-30T00:30:00.000Z');
  await since('2026-10-24T12:00:00Z');
  expect(await slot('2026-10-25T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(await slot('2026-10-25T12:00:01Z')).toBeUndefined();
  expect(await db('jobs').where({ schedule_key: key })).toHaveLength(5);
  await admin.patch(`${base}/${mapping.id}`, { schedule: null });
});

describe('runs that no user started', () => {
  let workers: Workers;
  let follower: Loop;
  beforeAll(async () => {
    workers = await startWorkers(t.services, [itsmScheduleProcessor, itsmRunProcessor]);
    follower = startItsmFollower(t.services, 20);
  });
  afterAll(async () => {
    await follower.stop();
    await workers.close(2_000);
  });

  const runsOf = (mapping: { id: string }) => db('itsm_runs').where({ mapping_id: mapping.id }).orderBy('id');
  const ended = async (mapping: { id: string }, count: number) =>
    await until(`${count} runs of the mapping to end`, async () => {
      const runs = await runsOf(mapping);
      return (
        runs.length >= count && runs.every(({ status }) => ['completed', 'failed'].includes(status)) && runs
      );
    });

  it('start at their scheduled time, unless a run is open or the mapping is paused', async () => {
    const mapping = await create({ remote_table: 'cmdb_ci_service', schedule: { cron: '* * * * *' } });
    const key = `itsm:${mapping.id}`;
    const fire = async () => {
      const past = db.raw(`now() - interval '5 minutes'`);
      await db('jobs').where({ schedule_key: key }).delete();
      await db('job_schedules').where({ key }).update({ last_slot: past, updated_at: past });
      // the workers may have started it already
      await fireIfDue(db, key, new Date());
      return await until('the job to end', async () => {
        const jobs = await db('jobs')
          .where({ schedule_key: key, status: 'succeeded' })
          .whereNotNull('message');
        return jobs.find(({ slot }) => slot > new Date(Date.now() - 200_000))?.message as string | undefined;
      });
    };
    await admin.patch(`${base}/${mapping.id}`, { is_active: false });
    expect(await fire()).toBe('The mapping is paused.');
    await admin.patch(`${base}/${mapping.id}`, { is_active: true });
    const scheduled = async () => (await runsOf(mapping)).filter(({ trigger }) => trigger === 'schedule');
    const due = async () => (await admin.get(`${base}/${mapping.id}`)).body.due_at;
    // a run that a user cancels is not started again immediately
    const dropped = await run(mapping, { status: 'review', trigger: 'manual' });
    expect(await fire()).toBe('waits for the end of the run that is not over');
    expect(await due()).toEqual(expect.any(String));
    await ok(admin.post(`${syncBase}/sync/runs/${dropped}/cancel`));
    expect([await due(), await scheduled()]).toEqual([null, []]);
    // what is decided on lets the scheduled one begin, however many slots have passed
    const open = await run(mapping, { status: 'review', trigger: 'manual' });
    for (let slot = 0; slot < 2; slot += 1)
      expect(await fire()).toBe('waits for the end of the run that is not over');
    const { body: log } = await admin.get(`${syncBase}/sync/runs/${open}/log`);
    expect(log.items).toMatchObject([
      { message: 'A scheduled run is due. It starts when this run has ended.' },
    ]);
    expect(await scheduled()).toEqual([]);
    await command(await t.ctx(), (work) =>
      changeRun(work, open, 'itsm_run.completed', { status: 'completed' }),
    );
    await until('the scheduled run', async () => (await scheduled()).length === 1 || undefined);
    expect(await due()).toBeNull();
  });

  it('start after changes of cards of the type, but neither before the first run nor while paused', async () => {
    const mapping = await create({
      remote_table: 'cmdb_ci_appl',
      // nothing has to be written
      card_filter: 'name starts with "Nobody"',
      follows_changes: true,
    });
    const card = (name: string) => admin.post('/api/v1/cards', { type: 'Application', name });
    await card('One');
    await ok(admin.post(`${syncBase}/sync/push/${mapping.id}`), 202);
    expect(await ended(mapping, 1)).toMatchObject([{ trigger: 'manual', status: 'completed' }]);
    await card('Two');
    const runs = await ended(mapping, 2);
    expect(runs[1]).toMatchObject({ trigger: 'changes', direction: 'push', status: 'completed' });
    const { followed_position } = await db('itsm_mappings')
      .where({ id: mapping.id })
      .first('followed_position');
    expect(followed_position).toBeGreaterThan(0);
    expect(await listFollowers(db)).toMatchObject([{ id: mapping.id, busy: false }]);
    await admin.patch(`${base}/${mapping.id}`, { is_active: false });
    expect(await listFollowers(db)).toEqual([]);
    // what has changed in the pause goes out after it, as one run
    await card('While it was paused');
    await card('And another one');
    expect(await runsOf(mapping)).toHaveLength(2);
    await admin.patch(`${base}/${mapping.id}`, { is_active: true });
    expect((await ended(mapping, 3))[2]).toMatchObject({ trigger: 'changes', status: 'completed' });
    await admin.patch(`${base}/${mapping.id}`, { is_active: false });
    // what a run itself has written is no news to its mapping
    const position = await readNewestPosition(db);
    const follower = { id: mapping.id, card_type_key: 'Application', position, busy: false };
    const three = await card('Three');
    const news = async () => await hasChanged(db, follower, position, position + 1_000);
    expect(await news()).toBe(true);
    await db('events').where({ card_id: three.body.id }).update({ job_id: runs[1].job_id });
    expect(await news()).toBe(false);
  });

  it('push a change to the remote within seconds', async () => {
    const table = 'cmdb_ci_business_app';
    const mapping = await create({
      remote_table: table,
      card_filter: 'name = "Followed"',
      auto_apply: true,
      follows_changes: true,
      field_mappings: [
        { card_field: 'name', remote_field: 'name', is_identity: true },
        { card_field: 'description', remote_field: 'short_description' },
      ],
    });
    const { body: card } = await admin.post('/api/v1/cards', { type: 'Application', name: 'Followed' });
    await admin.post(`${syncBase}/sync/push/${mapping.id}`);
    await ended(mapping, 1);
    const began = performance.now();
    await admin.patch(`/api/v1/cards/${card.id}`, { description: 'as of now' });
    await until(
      'the edit at the remote',
      async () =>
        instance.store.of(table).some(({ values }) => values.short_description === 'as of now') || undefined,
    );
    expect(performance.now() - began).toBeLessThan(10_000);
    await admin.patch(`${base}/${mapping.id}`, { is_active: false });
  });
});
