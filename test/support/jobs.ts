import type { Static, TSchema } from 'typebox';
import { command } from '../../domain/kernel/command.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { JobDefinition } from '../../domain/kernel/jobs/jobs.define.ts';
import { enqueueJob } from '../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobProcessor } from '../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { processors } from '../../workers/processors.ts';
import { startWorkers, type Workers } from '../../workers/runtime.ts';
import { type Child, startChild } from './child.ts';
import { until } from './until.ts';

export interface JobRow {
  id: string;
  status: string;
  progress: number;
  message: string | null;
  counts: Record<string, number> | null;
  result: Record<string, unknown> | null;
  error: { code: string; message: string } | null;
  attempt: number;
  crashes: number;
  failures: number;
  checkpoint: unknown;
  lease_owner: string | null;
  result_file_id: string | null;
}

/** Asks for a job as the owner of the context. @returns its id. */
export async function ask<P extends TSchema>(ctx: Ctx, definition: JobDefinition<P>, payload: Static<P>) {
  return (await command(ctx, (work) => enqueueJob(ctx, work, definition, payload))).job_id;
}

export const jobRow = async (services: Services, id: string): Promise<JobRow> =>
  await services.db('jobs').where({ id }).first();

/** Lets the leases of all running jobs pass, as ten seconds of silence after a worker's end would. */
export async function letLeasesPass({ db }: Services): Promise<void> {
  await db('jobs').where({ status: 'running' }).update('lease_until', db.raw('now()'));
}

/** Kills a worker process, and lets the leases of its jobs pass. */
export async function killWorker(services: Services, worker: Child): Promise<void> {
  worker.kill('SIGKILL');
  await worker.ended();
  await letLeasesPass(services);
}

/** Waits until the job has the status. @throws Error when it ends otherwise. */
export const untilStatus = async (services: Services, id: string, status: string, limitMs?: number) =>
  await until(
    `job ${id} to be ${status}`,
    async () => {
      const row = await jobRow(services, id);
      if (row.status === status) return row;
      if (['succeeded', 'failed', 'cancelled'].includes(row.status))
        throw new Error(`the job is ${row.status}, not ${status}: ${JSON.stringify(row)}`);
      return undefined;
    },
    limitMs,
  );

/** Waits until a job has ended well, or has written nothing since rows of it failed. */
export const untilReported = async (services: Services, id: string, limitMs?: number): Promise<JobRow> =>
  await until(
    `job ${id} to end with a report`,
    async () => {
      const row = await jobRow(services, id);
      if (row.status === 'succeeded' || row.error?.code === 'nothing_written') return row;
      if (['failed', 'cancelled'].includes(row.status))
        throw new Error(`the job is ${row.status}: ${JSON.stringify(row)}`);
      return undefined;
    },
    limitMs,
  );

/** A worker process of the test's own on the same database, queue and data folder. */
export async function startWorkerProcess(services: Services, processorsModule?: string): Promise<Child> {
  const { config } = services;
  const child = startChild(
    'test/support/worker-process.ts',
    processorsModule === undefined ? [] : [processorsModule],
    {
      DATABASE_URL: config.databaseUrl,
      REDIS_URL: config.redisUrl,
      DATA_DIR: config.dataDir,
      SECRET_KEY: config.secretKeys[0],
      LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    },
  );
  await child.until(/worker ready/);
  return child;
}

/** Starts worker processes of a test file; those that are left after a test are killed. */
export function killableWorkers(services: () => Services, processorsModule?: string): () => Promise<Child> {
  const children: Child[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      await child.ended();
    }
  });
  return async () => {
    const child = await startWorkerProcess(services(), processorsModule);
    children.push(child);
    return child;
  };
}

/**
 * Starts a worker in the test's own process, for what goes on where others were killed: to begin a process costs a second. It ends
 * with the test. @param extra processors of the test's own.
 */
export function survivingWorker(services: () => Services, extra: readonly JobProcessor[] = []) {
  const started: Workers[] = [];
  afterEach(async () => {
    for (const workers of started.splice(0)) await workers.close(3_000);
  });
  return async () => void started.push(await startWorkers(services(), [...processors, ...extra]));
}
