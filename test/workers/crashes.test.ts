import { randomUUID } from 'node:crypto';
import { cancelJob, retryJob } from '../../domain/kernel/jobs/jobs.commands.ts';
import type { Lease } from '../../domain/kernel/jobs/jobs.lease.ts';
import { claimRun, MAX_CRASHES, requeueExpired, storeStep } from '../../domain/kernel/jobs/jobs.lease.ts';
import type { JobStep } from '../../domain/kernel/jobs/jobs.running.ts';
import { systemClock } from '../../integrations/exchange/itsm/remote.ts';
import { inTransaction } from '../../platform/database.ts';
import { processesRuns } from '../../workers/exchange/itsm-run.ts';
import { createRunner } from '../../workers/runner.ts';
import { begin, createWorld } from '../soak/itsm/world.ts';
import { closeAfterAll, createTestServices } from '../support/harness.ts';
import { ask, jobRow, letLeasesPass } from '../support/jobs.ts';
import { actJob, processors } from './fixtures/numbers.processors.ts';

const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const { db } = t.services;
const runner = createRunner({
  services: t.services,
  leases: t.services.db,
  processors: [...processors, processesRuns({ clock: systemClock, page: 10 })],
});

/** A worker takes the job, stores what it has reached, and is heard of no more. */
async function die(id: string, step?: JobStep): Promise<void> {
  const { attempt } = await jobRow(t.services, id);
  const lease: Lease = { id, owner: randomUUID() };
  expect(await claimRun(db, { id, attempt }, lease.owner)).toBeDefined();
  if (step) await inTransaction(db, (sql) => storeStep(sql, lease, step));
  await letLeasesPass(t.services);
  await requeueExpired(db);
}

async function run(id: string) {
  const { attempt } = await jobRow(t.services, id);
  await runner.run({ id, attempt });
  return await jobRow(t.services, id);
}

it('fails a job with which worker after worker dies, and lets it be tried again', async () => {
  const id = await ask(await t.ctx(), actJob, { act: 'at last' });
  for (let death = 0; death < MAX_CRASHES; death += 1) await die(id);
  const ended = await run(id);
  expect(ended).toMatchObject({ status: 'failed', crashes: MAX_CRASHES, error: { code: 'worker_lost' } });
  expect(ended.error!.message).toMatch(new RegExp(`^${MAX_CRASHES} workers in a row .*${id}\\.$`));
  await retryJob(await t.ctx(), id);
  expect(await run(id)).toMatchObject({ status: 'succeeded', result: { did: 'at last' } });
});

it('goes on with a job that gets on, however many workers die with it', async () => {
  const id = await ask(await t.ctx(), actJob, { act: 'at last' });
  const steps: JobStep[] = [{ checkpoint: 'a' }, { counts: { made: 1 } }, { progress: 0.5 }];
  for (const step of steps) {
    for (let death = 1; death < MAX_CRASHES; death += 1) await die(id);
    await die(id, step);
  }
  // what is stored again is nothing new
  for (const step of steps.slice(0, 2)) await die(id, { progress: 0.3, ...step });
  const row = await db('jobs').where({ id }).first('crashes_without_progress', 'crashes');
  expect(row).toEqual({ crashes_without_progress: 3, crashes: 3 * MAX_CRASHES + 2 });
  expect(await run(id)).toMatchObject({ status: 'succeeded' });
});

it('ends a run of a synchronisation with its job', async () => {
  const parts = { services: t.services, ctx: await t.ctx() };
  const world = await createWorld(parts, { applications: 1, components: 1, relations: 1 }, {});
  onTestFinished(() => world.close());
  const id = await begin(world, world.mappings.component);
  const { job_id } = await db('itsm_runs').where({ id }).first('job_id');
  for (let death = 0; death < MAX_CRASHES; death += 1) await die(job_id);
  expect((await run(job_id)).status).toBe('failed');
  expect(await db('itsm_runs').where({ id }).first('status', 'error_code', 'error_message')).toEqual({
    status: 'failed',
    error_code: 'worker_lost',
    error_message: expect.stringContaining('workers in a row'),
  });
  const events = await db('events').where({ event_type: 'itsm_run.failed' });
  expect(events.map(({ data }) => data.id)).toEqual([id]);
  await expect(retryJob(parts.ctx, job_id)).rejects.toMatchObject({ code: 'job_not_retryable' });

  // a job that was cancelled before anybody had it goes on with its run
  const next = await begin(world, world.mappings.component);
  expect(next).not.toBe(id);
  const { job_id: waiting } = await db('itsm_runs').where({ id: next }).first('job_id');
  await cancelJob(parts.ctx, waiting);
  await retryJob(parts.ctx, waiting);
  expect((await run(waiting)).status).toBe('succeeded');
  expect(await db('itsm_runs').where({ id: next }).first('status')).toEqual({ status: 'completed' });
  await expect(retryJob(parts.ctx, waiting)).rejects.toMatchObject({ code: 'job_not_retryable' });
});
