import type { Knex } from 'knex';
import type { RunRow } from '../../domain/exchange/itsm/itsm.model.ts';
import { abortRun, loadRun, logRun } from '../../domain/exchange/itsm/runs.commands.ts';
import { itsmRunJob } from '../../domain/exchange/itsm/runs.job.ts';
import {
  JobFailed,
  type JobProcessor,
  JobStopped,
  processes,
  type RunningJob,
} from '../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { isRemoteError } from '../../integrations/exchange/itsm/remote.ts';
import { defaultConditions } from '../../integrations/exchange/itsm/runs/run.state.ts';
import { executeRun } from '../../integrations/exchange/itsm/runs/run.ts';
import { isConnectionLoss } from '../../platform/database.ts';
import { EstateError, isStorageFull } from '../../platform/errors.ts';

type Job = RunningJob<{ run_id: string }>;

/** Codes of remote errors that may be temporary. */
const temporary: ReadonlySet<string> = new Set([
  'unreachable',
  'timed_out',
  'rate_limited',
  'unavailable',
  'unreadable_response',
  'incomplete_response',
  'response_lost',
]);

/** The processor of synchronisation runs. */
export const processesRuns = (conditions = defaultConditions): JobProcessor =>
  processes(
    itsmRunJob,
    async (job: Job, services) => {
      try {
        return await executeRun(job, services, conditions);
      } catch (error) {
        job.signal.throwIfAborted();
        if (error instanceof JobStopped || isConnectionLoss(error) || isStorageFull(error)) throw error;
        const failure = failureOf(error);
        await logRetry(job, services, failure);
        throw failure;
      }
    },
    async (work, { id, payload, error }) => {
      const run = await lockRunOf(work.sql, payload.run_id, id);
      if (!run) return;
      await logRun(work.sql, run.id, run.stage, 'error', error.message);
      await abortRun(work, run, {
        status: 'failed',
        error_code: isRemoteError(error.cause) ? error.cause.code : error.code,
        error_message: error.message,
      });
    },
    async (work, { id, payload }) => {
      const run = await lockRunOf(work.sql, payload.run_id, id);
      if (!run) return;
      await logRun(work.sql, run.id, run.stage, 'error', 'The run was cancelled.');
      await abortRun(work, run, { status: 'cancelled' });
    },
  );

export const itsmRunProcessor = processesRuns();

/** The error of the job: it is retried if the remote may answer later. */
function failureOf(reason: unknown): unknown {
  if (!isRemoteError(reason)) return reason;
  const Failure = temporary.has(reason.code) ? EstateError : JobFailed;
  return new Failure('upstream_failed', reason.message, { cause: reason });
}

/** Writes into the run's log that the job is retried, and why. */
async function logRetry({ id, payload }: Job, { db }: Services, failure: unknown): Promise<void> {
  const known = failure instanceof EstateError;
  if (failure instanceof JobFailed || (known && failure.status < 500)) return;
  const { failures } = await db('jobs').where({ id }).first('failures');
  if (failures + 1 >= itsmRunJob.attempts) return;
  const { stage } = await loadRun(db, payload.run_id);
  const what = known
    ? failure.message
    : `The run failed unexpectedly; the service log contains the error with the job id ${id}.`;
  await logRun(db, payload.run_id, stage, 'warning', `${what} The run is retried.`);
}

/** Locks the run of a job; undefined when it has ended, or has another job. */
async function lockRunOf(sql: Knex.Transaction, runId: string, jobId: string): Promise<RunRow | undefined> {
  const run = await loadRun(sql, runId, 'for update');
  return ['queued', 'running'].includes(run.status) && run.job_id === jobId ? run : undefined;
}
