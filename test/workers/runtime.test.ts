// @redis
import { createSessionReader } from '../../domain/access/access.sessions.ts';
import { commandWith } from '../../domain/kernel/command.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { cancelJob } from '../../domain/kernel/jobs/jobs.commands.ts';
import { enqueueJob, jobPath } from '../../domain/kernel/jobs/jobs.enqueue.ts';
import { startWorkers, type Workers } from '../../workers/runtime.ts';
import { closeAfterAll, createTestApp } from '../support/harness.ts';
import { ask, jobRow, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { actJob, numbersJob, numbersTable, processors } from './fixtures/numbers.processors.ts';

let workers: Workers;

const t = closeAfterAll(await createTestApp());
const { db } = t.services;
await db.raw(numbersTable);
workers = await startWorkers(t.services, processors);

afterAll(() => workers.close(2_000));

const act = async (what: string, ctx?: Ctx) => await ask(ctx ?? (await t.ctx()), actJob, { act: what });
const running = async (id: string) =>
  await until('the job to run', async () => (await jobRow(t.services, id)).status === 'running');

async function as(role: string): Promise<{ ctx: Ctx; userId: string }> {
  const { userId } = await t.as(role);
  const user = await db('users').where({ id: userId }).first();
  const claims = { sub: userId, jti: '00000000-0000-7000-8000-000000000001', iat: 0, exp: 4_000_000_000 };
  const { caller } = await createSessionReader(db).read({ ...claims, tv: user.token_version });
  return { ctx: await t.ctx(caller), userId };
}

describe('how a job ends', () => {
  it('keeps the result of one that succeeds', async () =>
    expect(await untilStatus(t.services, await act('this and that'), 'succeeded')).toMatchObject({
      progress: 1,
      result: { did: 'this and that' },
      error: null,
      attempt: 1,
      lease_owner: null,
    }));

  it('never begins when the transaction that asks for it is rolled back', async () => {
    const ctx = await t.ctx();
    let id = '';
    await commandWith(ctx, { dryRun: true }, async (work) => {
      id = (await enqueueJob(ctx, work, actJob, { act: 'nothing' })).job_id;
    });
    await untilStatus(t.services, await act('later'), 'succeeded');
    expect(await jobRow(t.services, id)).toBeUndefined();
  });

  it('fails at once on a refusal, with its code', async () =>
    expect(await untilStatus(t.services, await act('refuse'), 'failed')).toMatchObject({
      error: { code: 'not_found', message: 'There is no such thing.' },
      attempt: 1,
    }));

  it('runs again after an unexpected error, as often as its kind says, and tells no internals', async () => {
    const row = await untilStatus(t.services, await act('break'), 'failed');
    expect(row).toMatchObject({ attempt: 2, failures: 1, error: { code: 'internal' } });
    expect(row.error!.message).not.toContain('secret detail');
    const recovered = await untilStatus(t.services, await act('break once'), 'succeeded');
    expect(recovered).toMatchObject({ result: { attempt: 2 }, failures: 1, error: null });
  });

  it('stays succeeded when the processor breaks after it has finished the job', async () => {
    const id = await act('finish and break');
    const row = await untilStatus(t.services, id, 'succeeded');
    await untilStatus(t.services, await act('later'), 'succeeded');
    expect(await jobRow(t.services, id)).toEqual(row);
    expect(row).toMatchObject({ result: { done: true }, attempt: 1 });
  });

  it('fails when its payload no longer fits its kind', async () => {
    const [job] = await db('jobs')
      .insert({ kind: actJob.kind, queue: actJob.queue, payload: '{"act":1}', rights: '{"permissions":"*"}' })
      .returning('id');
    expect((await untilStatus(t.services, job.id, 'failed')).error).toMatchObject({ code: 'internal' });
  });
});

it('cancelling stops a running job', async () => {
  const ctx = await t.ctx();
  const id = await act('wait');
  await running(id);
  await cancelJob(ctx, id);
  const row = await untilStatus(t.services, id, 'cancelled');
  expect(row).toMatchObject({ attempt: 1, error: null, lease_owner: null });
});

it('cancelling keeps what was committed before, and nothing after', async () => {
  const ctx = await t.ctx();
  const id = await ask(ctx, numbersJob, { rows: 1_000_000, batch: 10, pauseMs: 1 });
  await until('some rows', async () => ((await jobRow(t.services, id)).counts?.written ?? 0) > 50);
  await cancelJob(ctx, id);
  const row = await untilStatus(t.services, id, 'cancelled');
  const { rows } = await db.raw('select count(*)::int as n from numbers where job_id = ?', [id]);
  expect(rows[0].n).toBe(row.counts!.written);
  expect(row.checkpoint).toBe(row.counts!.written);
});

it('with whose rights a job runs is the owner, with what was held then and is held still', async () => {
  const { ctx, userId } = await as('member');
  const full = await untilStatus(t.services, await act('who', ctx), 'succeeded');
  expect(full.result).toMatchObject({ user: userId });
  expect(full.result!.permissions).toContain('costs.view');
  await db('users').where({ id: userId }).update({ role: 'viewer' });
  onTestFinished(() => db('users').where({ id: userId }).update({ role: 'member' }));
  const less = await untilStatus(t.services, await act('who', ctx), 'succeeded');
  expect(less.result!.permissions).toContain('inventory.view');
  expect(less.result!.permissions).not.toContain('costs.view');
  await db('users').where({ id: userId }).update({ role: 'admin' });
  const notMore = await untilStatus(t.services, await act('who', ctx), 'succeeded');
  expect(notMore.result!.permissions).toEqual(full.result!.permissions);
});

it('with whose rights a job runs is nobody when the owner is no longer active', async () => {
  const { ctx, userId } = await as('bpm_admin');
  await db('users').where({ id: userId }).update({ is_active: false });
  const row = await untilStatus(t.services, await act('who', ctx), 'failed');
  expect(row.error).toMatchObject({ code: 'forbidden' });
});

it('a running job goes on with the rights that its owner still has, and fails without an owner', async () => {
  const { ctx, userId } = await as('member');
  const id = await ask(ctx, numbersJob, { rows: 1_000_000, batch: 10, pauseMs: 1 });
  const written = async () => (await jobRow(t.services, id)).counts?.written ?? 0;
  await until('some rows', async () => (await written()) > 50);
  await db('users').where({ id: userId }).update({ role: 'viewer' });
  await until('another attempt', async () => {
    const { attempt, status } = await jobRow(t.services, id);
    return attempt === 2 && status === 'running';
  });
  const before = await written();
  await until('more rows', async () => (await written()) > before);
  await db('users').where({ id: userId }).update({ is_active: false });
  onTestFinished(() => db('users').where({ id: userId }).update({ role: 'member', is_active: true }));
  const row = await untilStatus(t.services, id, 'failed');
  expect(row).toMatchObject({
    error: { code: 'forbidden', message: 'The owner of the job is no longer active.' },
    attempt: 3,
    crashes: 0,
    failures: 0,
  });
  const { rows } = await db.raw('select count(*)::int as n from numbers where job_id = ?', [id]);
  expect(rows[0].n).toBe(row.counts!.written);
});

it('tells progress on the way, and the news of it', async () => {
  const news: string[] = [];
  const off = t.services.signals.on('estate_job_state', (id) => void news.push(id));
  const client = await t.as('admin');
  const id = await ask(await t.ctx(), numbersJob, { rows: 400, batch: 10, pauseMs: 5 });
  await until('progress', async () => {
    const { body } = await client.get(jobPath(id));
    return body.progress > 0 && body.progress < 1 && body.counts.written > 0;
  });
  const row = await untilStatus(t.services, id, 'succeeded');
  expect(row).toMatchObject({ message: '400 of 400', counts: { written: 400 }, result: { written: 400 } });
  await until('news', async () => news.filter((item) => item === id).length > 5);
  off();
});

it('gives back at once, when the process ends, a job that does not listen', async () => {
  const id = await act('deaf');
  await running(id);
  await workers.close(3_000);
  const job = await jobRow(t.services, id);
  expect(job).toMatchObject({ status: 'queued', attempt: 2, crashes: 0, lease_owner: null });
  workers = await startWorkers(t.services, processors);
  await running(id);
});
