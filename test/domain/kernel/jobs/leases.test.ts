import { expect, it } from 'vitest';
import { command } from '../../../../domain/kernel/command.ts';
import {
  claimRun,
  completeRun,
  endRun,
  finishRun,
  lockRun,
  renewLease,
  requeueExpired,
  requeueRun,
  storeProgress,
  storeStep,
} from '../../../../domain/kernel/jobs/jobs.lease.ts';
import { JobCancelled, JobLeaseLost } from '../../../../domain/kernel/jobs/jobs.running.ts';
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
  await t.services
    .db('jobs')
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
  const ctx = await t.ctx();
  await expect(
    command(ctx, async (work) => {
      await work.sql('settings').insert({ key: 'written by a lost run', value: '1' });
      await expire(lease.id);
      await requeueExpired(t.services.db);
      await storeStep(work.sql, lease, { checkpoint: 1 });
    }),
  ).rejects.toThrow(JobLeaseLost);
  expect(await t.services.db('settings').where({ key: 'written by a lost run' })).toEqual([]);
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
  expect(await jobRow(t.services, lease.id)).toMatchObject({
    progress: 1,
    message: 'half',
    counts: { n: 1 },
    checkpoint: [1],
  });
  await storeStep(db, lease, { progress: Number.NaN });
  expect((await jobRow(t.services, lease.id)).progress).toBe(1);
});
