import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { command, recordEvents, type Work } from '../domain/command.ts';
import { systemCaller } from '../domain/context.ts';
import type { EventDraft } from '../domain/events/events.types.ts';
import { changeRun, loadRun, logRun } from '../domain/itsm/runs.store.ts';
import type { RunRow } from '../domain/itsm/runs.types.ts';
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
  processes(
    itsmRunJob,
    async (job: Job, services) => {
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
    },
    // what ends the job before it is begun has not ended the run yet
    async ({ sql }, { id, payload, ctx, error }) => {
      const run = await loadCarried(sql, { id, payload });
      if (!run) return;
      const events: EventDraft[] = [];
      await endRun({ sql, emit: (event) => void events.push(event) }, run, error.message, error.code);
      await recordEvents(sql, ctx, events, []);
    },
  );

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
    const run = await loadCarried(work.sql, job);
    if (!run) return;
    if (cancelled) await endRun(work, run, told, null);
    else if (final) await endRun(work, run, told, codeOf(error));
    else await logRun(work.sql, run.id, run.stage, 'warning', `${told} It is tried again.`);
  });
}

/** The run that the job carries; undefined when it has ended, or another job carries it by now. */
async function loadCarried(
  sql: Knex.Transaction,
  { id, payload }: Pick<Job, 'id' | 'payload'>,
): Promise<RunRow | undefined> {
  const run = await loadRun(sql, payload.run_id, 'for update');
  return ['queued', 'running'].includes(run.status) && run.job_id === id ? run : undefined;
}

/** Ends a run. @param code why it has failed; null where it was cancelled. */
async function endRun(
  work: Pick<Work, 'sql' | 'emit'>,
  run: RunRow,
  told: string,
  code: string | null,
): Promise<void> {
  const { sql } = work;
  await logRun(sql, run.id, run.stage, 'error', told);
  await sql('itsm_run_records').where({ run_id: run.id }).delete();
  await changeRun(work, run.id, code === null ? 'itsm_run.cancelled' : 'itsm_run.failed', {
    status: code === null ? 'cancelled' : 'failed',
    completed_at: sql.raw('clock_timestamp()'),
    ...(code === null ? {} : { error_code: code, error_message: told }),
  });
}

function codeOf(error: unknown): string {
  if (error instanceof RemoteFailed) return error.failure.code;
  return error instanceof EstateError ? error.code : 'internal';
}

function messageOf(job: Job, error: unknown): string {
  if (error instanceof RemoteFailed || error instanceof EstateError) return error.message;
  if (error instanceof JobCancelled) return 'The run was cancelled.';
  return `The run failed unexpectedly; the log of the service tells why under the job ${job.id}.`;
}
