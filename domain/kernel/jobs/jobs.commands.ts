import { query } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx, Work } from '../context.ts';
import { requireControlOf } from '../permissions/grants.ts';
import { requirePermission } from '../permissions/policy.ts';
import { JOBS_CHANNEL, ownRows } from './jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from './jobs.lease.ts';
import { seesAllJobs } from './jobs.queries.ts';

interface LockedJob {
  id: string;
  kind: string;
  status: string;
  payload: unknown;
  owner_id: string | null;
  /** Whether it is the caller's own, within the scopes of the presented token. */
  own: boolean;
  cancel_requested: boolean;
  attempt: number;
  checkpoint: unknown;
}

/**
 * Locks a job that the caller may control: their own or, with `admin.settings`, any. The lock is compatible with the
 * one of a transaction in which the job is executed.
 */
async function lockJob(ctx: Ctx, { sql }: Work, id: string): Promise<LockedJob> {
  const mine = ownRows(ctx.caller, 'jobs');
  const job: LockedJob | undefined = await sql('jobs')
    .where({ id })
    .forNoKeyUpdate()
    .first('id', 'kind', 'status', 'payload', 'owner_id', 'cancel_requested', 'attempt', 'checkpoint', {
      own: sql.raw(`(${mine.sql}) is true`, mine.bindings),
    });
  if (!job || (!job.own && !seesAllJobs(ctx))) throw notFound('job', id);
  if (!job.own) requirePermission(ctx.caller, 'admin.settings');
  return job;
}

/**
 * Cancels a job: a queued one at once, a running one as soon as its worker has noticed, which takes about two seconds.
 * Cancelling it again meanwhile has no effect.
 * @throws EstateError `not_found`, `forbidden`, `job_not_cancellable` if it has ended.
 */
export async function cancelJob(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const job = await lockJob(ctx, work, id);
    if (job.status !== 'queued' && job.status !== 'running') {
      throw new EstateError('job_not_cancellable', `The job has ended: it is ${job.status}.`, {
        extra: { job_status: job.status },
      });
    }
    if (job.cancel_requested) return;
    const queued = job.status === 'queued';
    await work
      .sql('jobs')
      .where({ id })
      .update({
        cancel_requested: true,
        status: queued ? 'cancelled' : job.status,
        finished_at: queued ? work.sql.fn.now() : null,
      });
    await query(work.sql).run`select pg_notify(${JOB_CANCEL_CHANNEL}, ${id}),
      pg_notify(${JOB_STATE_CHANNEL}, ${id})`;
    work.emit({ event_type: 'job.cancelled', data: { job_id: id, kind: job.kind, was: job.status } });
  });
}

/**
 * Runs a failed or cancelled job again, from its last checkpoint if its kind has checkpoints. It still belongs to its
 * owner and acts with the owner's rights; other users who run it again need these rights.
 * @throws EstateError `not_found`, `forbidden`; `job_not_retryable` also if the object that it works for has ended.
 */
export async function retryJob(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const job = await lockJob(ctx, work, id);
    if (!job.own && job.owner_id !== null) {
      const owner = await work.sql('users').where({ id: job.owner_id }).first('id', 'role');
      if (owner) await requireControlOf(ctx, work.sql, owner);
    }
    if (job.status !== 'failed' && job.status !== 'cancelled') {
      const detail = `Only a failed or cancelled job can be run again; it is ${job.status}.`;
      throw new EstateError('job_not_retryable', detail, { extra: { job_status: job.status } });
    }
    const definition = work.extensions.jobs.find(({ kind }) => kind === job.kind);
    const { payload } = job;
    const objection = await definition?.whyNotAgain?.(work.sql, { id, payload: payload as never });
    if (objection) {
      throw new EstateError('job_not_retryable', objection, { extra: { job_status: job.status } });
    }
    // A job that failed at its end has no checkpoint: it starts over.
    const resumes = definition?.resumable && job.checkpoint !== null;
    await work
      .sql('jobs')
      .where({ id })
      .update({
        status: 'queued',
        attempt: job.attempt + 1,
        failures: 0,
        crashes_without_progress: 0,
        cancel_requested: false,
        run_after: work.sql.fn.now(),
        enqueued_at: null,
        started_at: null,
        finished_at: null,
        outcome: null,
        error: null,
        result: null,
        result_file_id: null,
        ...(resumes ? {} : { progress: 0, message: null, counts: null, checkpoint: null }),
      });
    await query(work.sql).run`select pg_notify(${JOBS_CHANNEL}, ''), pg_notify(${JOB_STATE_CHANNEL}, ${id})`;
    const data = { job_id: id, kind: job.kind, was: job.status, attempt: job.attempt + 1 };
    work.emit({ event_type: 'job.retried', data });
  });
}
