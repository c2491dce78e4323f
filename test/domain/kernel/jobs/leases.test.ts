import { command } from '../../../../domain/kernel/command.ts';
import {
  claimRun,
  completeRun,
  endRun,
  finishRun,
  lockRun,
  nothingWritten,
  outcomeOf,
  renewLease,
  requeueExpired,
  requeueRun,
  storeProgress,
  storeStep,
} from '../../../../domain/kernel/jobs/jobs.lease.ts';
import { JobCancelled, JobLeaseLost } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { dueSlot } from '../../../../domain/kernel/jobs/schedules.fire.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { ask, jobRow } from '../../../support/jobs.ts';
import { actJob } from '../../../workers/fixtures/numbers.processors.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;
async function claimed(owner = 'me') {
  const id = await ask(await t.ctx(), actJob, { act: 'x' });
  expect(await claimRun(t.services.db, { id, attempt: 1 }, owner)).toMatchObject({ id, kind: actJob.kind });
  return { id, owner };
}

const expire = async (id: string) =>
  await db('jobs')
    .where({ id })
    .update({ lease_until: new Date(Date.now() - 1000) });

it('gives a run to one of many workers', async () => {
  const id = await ask(await t.ctx(), actJob, { act: 'x' });
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, n) => claimRun(t.services.db, { id, attempt: 1 }, `worker ${n}`)),
  );
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await claimRun(t.services.db, { id, attempt: 2 }, 'late')).toBeUndefined();
});

it('lets nobody write who no longer holds the lease', async () => {
  const lease = await claimed();
  await expire(lease.id);
  expect(await requeueExpired(db)).toEqual([lease.id]);
  const row = await jobRow(t.services, lease.id);
  await expect(storeStep(db, lease, { progress: 0.5, counts: { n: 1 } })).rejects.toThrow(JobLeaseLost);
  const ctx = await t.ctx();
  await expect(command(ctx, (work) => lockRun(work, lease))).rejects.toThrow(JobLeaseLost);
  await expect(command(ctx, (work) => finishRun(work, lease, {}))).rejects.toThrow(JobLeaseLost);
  expect(await renewLease(db, lease)).toBe('lost');
  await storeProgress(db, lease, { progress: 0.9 });
  expect(await completeRun(db, lease, {})).toBe(false);
  expect(await endRun(db, lease, { status: 'cancelled' })).toBe(false);
  expect(await requeueRun(db, lease, 'failure')).toBe(false);
  expect(await jobRow(t.services, lease.id)).toEqual(row);
});

it('takes the whole batch back when the lease was lost before it ended', async () => {
  const lease = await claimed();
  await expect(
    command(await t.ctx(), async (work) => {
      await work.sql('settings').insert({ key: 'written by a lost run', value: '1' });
      await expire(lease.id);
      await requeueExpired(t.services.db);
      await storeStep(work.sql, lease, { checkpoint: 1 });
    }),
  ).rejects.toThrow(JobLeaseLost);
  expect(await db('settings').where({ key: 'written by a lost run' })).toEqual([]);
});

it('keeps the run from being taken over while a transaction holds it, and lets heartbeat and progress through', async () => {
  const lease = await claimed();
  await command(await t.ctx(), async (work) => {
    await lockRun(work, lease);
    await expire(lease.id);
    expect(await requeueExpired(db)).toEqual([]);
    await storeProgress(db, lease, { progress: 0.4, message: 'in the middle' });
    expect(await renewLease(db, lease)).toBe('held');
    await db('jobs').where({ id: lease.id }).update({ cancel_requested: true });
    expect(await renewLease(db, lease)).toBe('cancelled');
  });
  expect(await jobRow(t.services, lease.id)).toMatchObject({ progress: 0.4, message: 'in the middle' });
  await expect(storeStep(db, lease, {})).rejects.toThrow(JobCancelled);
});

it('never lets a heartbeat wait for the checkpoint of an open transaction', async () => {
  const lease = await claimed();
  await command(await t.ctx(), async (work) => {
    await storeStep(work.sql, lease, { progress: 0.7, checkpoint: { line: 7 } });
    expect(await renewLease(db, lease)).toBe('held');
    await storeProgress(db, lease, { progress: 0.1 });
    await expire('00000000-0000-7000-8000-000000000000');
    expect(await requeueExpired(db)).toEqual([]);
  });
  expect(await jobRow(t.services, lease.id)).toMatchObject({ progress: 0.7, checkpoint: { line: 7 } });
});

it('keeps progress within 0 and 1 and what a step does not name', async () => {
  const lease = await claimed();
  await storeStep(db, lease, { progress: 0.5, message: 'half', counts: { n: 1 }, checkpoint: [1] });
  await storeStep(db, lease, { progress: 7 });
  const job = await jobRow(t.services, lease.id);
  expect(job).toMatchObject({ progress: 1, message: 'half', counts: { n: 1 }, checkpoint: [1] });
  await storeStep(db, lease, { progress: Number.NaN });
  expect((await jobRow(t.services, lease.id)).progress).toBe(1);
});

it('follows from the rows that failed', () => {
  const complete = { status: 'succeeded', outcome: 'complete', error: null };
  expect(outcomeOf({})).toEqual(complete);
  expect(outcomeOf({ counts: { total: 0, failed: 0 } })).toEqual(complete);
  expect(outcomeOf({ counts: { total: 3, failed: 0 } })).toEqual(complete);
  expect(outcomeOf({ counts: { total: 3, failed: 2 } })).toEqual({ ...complete, outcome: 'partial' });
  expect(outcomeOf({ counts: { total: 3, failed: 0, left_out: 0 } })).toEqual(complete);
  expect(outcomeOf({ counts: { total: 3, failed: 0, left_out: 1 } })).toEqual({
    ...complete,
    outcome: 'partial',
  });
  // a kind that does not count rows
  expect(outcomeOf({ counts: { failed: 2 } })).toMatchObject({ status: 'succeeded', outcome: 'partial' });
  const outcome = outcomeOf({ counts: { total: 3, failed: 3 } });
  expect(outcome).toMatchObject({ status: 'failed', outcome: null, error: { code: 'nothing_written' } });
});

it('follows from the error of a job that has a report', () => {
  const counts = { total: 3, failed: 1 };
  expect(outcomeOf({ counts, error: nothingWritten(counts) })).toEqual({
    status: 'failed',
    outcome: null,
    error: { code: 'nothing_written', message: 'Nothing was written: 1 of 3 rows failed' },
  });
});

const due = (cron: string, zone: string, after: string, now: string) =>
  dueSlot(cron, zone, new Date(after), new Date(now))?.toISOString();

it('is none before the first, the very moment included, and the newest of several', () => {
  const daily = (now: string) => due('0 2 * * *', 'UTC', '2026-03-01T12:00:00Z', now);
  expect(daily('2026-03-02T01:59:59.999Z')).toBeUndefined();
  expect(daily('2026-03-02T02:00:00.000Z')).toBe('2026-03-02T02:00:00.000Z');
  expect(daily('2026-03-02T02:00:00.001Z')).toBe('2026-03-02T02:00:00.000Z');
  expect(daily('2026-03-09T01:00:00.000Z')).toBe('2026-03-08T02:00:00.000Z');
});

it('is none when the newest is done', () => {
  expect(due('*/5 * * * *', 'UTC', '2026-03-01T12:05:00Z', '2026-03-01T12:09:59Z')).toBeUndefined();
  expect(due('*/5 * * * *', 'UTC', '2026-03-01T12:05:00Z', '2026-03-01T12:10:00Z')).toBe(
    '2026-03-01T12:10:00.000Z',
  );
});

it('is found at once after years', () =>
  expect(due('* * * * *', 'UTC', '2016-01-01T00:00:00Z', '2026-01-01T00:00:30Z')).toBe(
    '2026-01-01T00:00:00.000Z',
  ));

it('follows the time zone', () =>
  expect(due('0 2 * * *', 'Asia/Kolkata', '2026-03-01T00:00:00Z', '2026-03-01T21:00:00Z')).toBe(
    '2026-03-01T20:30:00.000Z',
  ));

it('comes an hour later when summer time leaves it out', () => {
  const spring = (now: string) => due('30 2 * * *', 'Europe/Berlin', '2026-03-28T01:30:00Z', now);
  expect(spring('2026-03-29T01:00:00Z')).toBeUndefined();
  expect(spring('2026-03-29T01:30:00Z')).toBe('2026-03-29T01:30:00.000Z');
  expect(spring('2026-03-29T20:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
});

it('comes once when an hour is repeated', () => {
  const autumn = (after: string, now: string) => due('30 2 * * *', 'Europe/Berlin', after, now);
  expect(autumn('2026-10-24T00:30:00Z', '2026-10-25T00:45:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(autumn('2026-10-24T00:30:00Z', '2026-10-25T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(autumn('2026-10-25T00:30:00Z', '2026-10-25T12:00:00Z')).toBeUndefined();
});
