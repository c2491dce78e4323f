import { randomUUID } from 'node:crypto';
import { command } from '../domain/command.ts';
import { systemCaller } from '../domain/context.ts';
import { changeRun, loadRun, logRun } from '../domain/itsm/runs.store.ts';
import {
  JobCancelled,
  type JobProcessor,
  JobStopped,
  processes,
  type RunningJob,
} from '../domain/jobs/jobs.running.ts';
import { itsmRunJob } from '../domain/jobs/kinds/itsm-run.ts';
import { createContext, type Services } from '../domain/services.ts';
import { RemoteFailed } from '../integrations/itsm/remote.failed.ts';
import { carryRun } from '../integrations/itsm/runs/run.carry.ts';
import { usualConditions } from '../integrations/itsm/runs/run.types.ts';
import { isConnectionLoss } from '../platform/database.ts';
import { EstateError } from '../platform/errors.ts';

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
  processes(itsmRunJob, async (job: Job, services) => {
    try {
      return await carryRun(job, services, conditions);
    } catch (error) {
      const reason = error instanceof JobStopped ? error : (job.signal.reason ?? error);
      await noteEnd(job, services, reason);
      if (reason instanceof RemoteFailed && !passing.has(reason.failure.code)) {
        throw new EstateError('upstream_failed', reason.message, { cause: reason });
      }
      throw reason;
    }
  });

export const itsmRunProcessor = processesRuns();

/** Ends the run with a failure that the job does not get over; others are only told in its log. */
async function noteEnd(job: Job, services: Services, error: unknown): Promise<void> {
  if (isConnectionLoss(error)) return;
  const cancelled = error instanceof JobCancelled;
  if (error instanceof JobStopped && !cancelled) return;
  const { failures } = await services.db('jobs').where({ id: job.id }).first('failures');
  const told = messageOf(job, error);
  const final =
    cancelled ||
    (error instanceof RemoteFailed && !passing.has(error.failure.code)) ||
    (error instanceof EstateError && error.status < 500) ||
    failures + 1 >= itsmRunJob.attempts;
  const ctx = await createContext(services, systemCaller, {
    requestId: job.ctx.requestId ?? randomUUID(),
    origin: 'system',
    tool: `job ${job.kind}`,
    jobId: job.id,
  });
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, job.payload.run_id, 'for update');
    if (run.status !== 'running' || run.job_id !== job.id) return;
    await logRun(
      sql,
      run.id,
      run.stage,
      final ? 'error' : 'warning',
      final ? told : `${told} It is tried again.`,
    );
    if (!final) return;
    await sql('itsm_run_records').where({ run_id: run.id }).delete();
    await changeRun(work, run.id, cancelled ? 'itsm_run.cancelled' : 'itsm_run.failed', {
      status: cancelled ? 'cancelled' : 'failed',
      completed_at: sql.raw('clock_timestamp()'),
      ...(cancelled
        ? {}
        : {
            error_code: error instanceof RemoteFailed ? error.failure.code : codeOf(error),
            error_message: told,
          }),
    });
  });
}

const codeOf = (error: unknown): string => (error instanceof EstateError ? error.code : 'internal');

function messageOf(job: Job, error: unknown): string {
  if (error instanceof RemoteFailed || error instanceof EstateError) return error.message;
  if (error instanceof JobCancelled) return 'The run was cancelled.';
  return `The run failed unexpectedly; the log of the service tells why under the job ${job.id}.`;
}
