import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { breakOffRun } from '../domain/exchange/itsm/runs.end.ts';
import { itsmRunJob } from '../domain/exchange/itsm/runs.job.ts';
import { loadRun, logRun } from '../domain/exchange/itsm/runs.store.ts';
import type { RunRow } from '../domain/exchange/itsm/runs.types.ts';
import { command, recordEvents } from '../domain/kernel/command.ts';
import { type Ctx, systemCaller } from '../domain/kernel/context.ts';
import type { EventDraft } from '../domain/kernel/events/events.types.ts';
import {
  JobCancelled,
  JobFailed,
  type JobProcessor,
  JobStopped,
  processes,
  type RunningJob,
} from '../domain/kernel/jobs/jobs.running.ts';
import { createContext, type Services } from '../domain/kernel/services.ts';
import { RemoteFailed } from '../integrations/itsm/remote.failed.ts';
import { carryRun } from '../integrations/itsm/runs/run.carry.ts';
import { usualConditions } from '../integrations/itsm/runs/run.types.ts';
import { isConnectionLoss } from '../platform/database.ts';
import { EstateError, isStorageFull } from '../platform/errors.ts';

type Job = RunningJob<{ run_id: string }>;

/** A remote that fails so may answer later. */
const passing: ReadonlySet<string> = new Set([
  'unreachable',
  'timed_out',
  'limited',
  'outage',
  'unreadable_answer',
  'incomplete_answer',
  'answer_lost',
]);

/** Carries out runs of synchronisations; see carryRun. */
export const processesRuns = (conditions = usualConditions): JobProcessor =>
  processes(
    itsmRunJob,
    async (job: Job, services) => {
      try {
        return await carryRun(job, services, conditions);
      } catch (error) {
        const reason = error instanceof JobStopped ? error : (job.signal.reason ?? error);
        if (reason instanceof JobCancelled) await endCancelled(job, services);
        const waits = isConnectionLoss(reason) || isStorageFull(reason);
        if (reason instanceof JobStopped || waits) throw reason;
        const failure = failureOf(reason);
        await noteAttempt(job, services, failure);
        throw failure;
      }
    },
    async ({ sql }, { id, payload, ctx, error }) => {
      await endFailed(sql, ctx, payload.run_id, id, error);
    },
  );

export const itsmRunProcessor = processesRuns();

/** What a job fails with: a remote that may answer later is tried again, another is not. */
function failureOf(reason: unknown): unknown {
  if (!(reason instanceof RemoteFailed)) return reason;
  const Failure = passing.has(reason.failure.code) ? EstateError : JobFailed;
  return new Failure('upstream_failed', reason.message, { cause: reason });
}

/** Tells in the run's log what it is tried again after. */
async function noteAttempt({ id, payload }: Job, { db }: Services, failure: unknown): Promise<void> {
  const known = failure instanceof EstateError;
  if (failure instanceof JobFailed || (known && failure.status < 500)) return;
  const { failures } = await db('jobs').where({ id }).first('failures');
  if (failures + 1 >= itsmRunJob.attempts) return;
  const { stage } = await loadRun(db, payload.run_id);
  const what = known
    ? failure.message
    : `The run failed unexpectedly; the log of the service tells why under the job ${id}.`;
  await logRun(db, payload.run_id, stage, 'warning', `${what} It is tried again.`);
}

/** Ends the run with the transaction that ends its job. */
async function endFailed(
  sql: Knex.Transaction,
  ctx: Ctx,
  runId: string,
  jobId: string,
  error: EstateError,
): Promise<void> {
  const run = await loadCarried(sql, runId, jobId);
  if (!run) return;
  await logRun(sql, run.id, run.stage, 'error', error.message);
  const events: EventDraft[] = [];
  await breakOffRun({ sql, emit: (event) => void events.push(event) }, run, {
    status: 'failed',
    error_code: error.cause instanceof RemoteFailed ? error.cause.failure.code : error.code,
    error_message: error.message,
  });
  await recordEvents(sql, ctx, events, []);
}

/** Ends the run whose job was cancelled from outside. */
async function endCancelled(job: Job, services: Services): Promise<void> {
  const ctx = await createContext(services, systemCaller, {
    requestId: job.ctx.requestId ?? randomUUID(),
    origin: 'system',
    tool: `job ${job.kind}`,
    jobId: job.id,
  });
  await command(ctx, async (work) => {
    const run = await loadCarried(work.sql, job.payload.run_id, job.id);
    if (!run) return;
    await logRun(work.sql, run.id, run.stage, 'error', 'The run was cancelled.');
    await breakOffRun(work, run, { status: 'cancelled' });
  });
}

/** The run that the job carries; undefined when it has ended, or another job carries it by now. */
async function loadCarried(sql: Knex.Transaction, runId: string, jobId: string): Promise<RunRow | undefined> {
  const run = await loadRun(sql, runId, 'for update');
  return ['queued', 'running'].includes(run.status) && run.job_id === jobId ? run : undefined;
}
