import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import type { JobRights } from './jobs.enqueue.ts';
import {
  JobCancelled,
  type JobCounts,
  JobLeaseLost,
  type JobResult,
  type JobStep,
  type JobTransaction,
} from './jobs.running.ts';

/** Seconds after which a lease expires that its worker has not renewed. */
export const LEASE_SECONDS = 10;

/** The maximum number of consecutive workers that may crash with a job without progress; then the job fails. */
export const MAX_CRASHES = 20;

/** Seconds after which a run that was enqueued and has not started is enqueued again. */
const FORGOTTEN_SECONDS = 5;

/** Channel with the ids of jobs whose state or progress has changed. */
export const JOB_STATE_CHANNEL = 'estate_job_state';

/** Channel with the ids of running jobs that have to stop. */
export const JOB_CANCEL_CHANNEL = 'estate_job_cancel';

/** A run as it is identified in the queue. */
interface Run {
  id: string;
  attempt: number;
}

/** A run with its worker: `owner` is unique to this run. */
export interface Lease {
  id: string;
  owner: string;
}

export interface ClaimedRow {
  id: string;
  kind: string;
  payload: unknown;
  owner_id: string | null;
  rights: JobRights;
  request_id: string | null;
  counts: JobCounts | null;
  checkpoint: unknown;
  attempt: number;
  failures: number;
  /** Number of workers that have crashed with it since its last new checkpoint. */
  crashes_without_progress: number;
  slot: Date | null;
}

export interface DueRun extends Run {
  queue: string;
  /** Whether it was enqueued before and has not started since. */
  again: boolean;
}

const held = ({ id, owner }: Lease) =>
  embed(fragment`id = ${id} and lease_owner = ${owner} and status = 'running'`);
const news = embed(`pg_notify('${JOB_STATE_CHANNEL}', id::text)`);
const json = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value));
/** Between 0 and 1, or null to leave the stored value. */
const fraction = (value: number | undefined) =>
  value === undefined || Number.isNaN(value) ? null : Math.min(1, Math.max(0, value));

/**
 * Claims a queued run. Waits for an open transaction of its previous worker, so that two never overlap.
 * @returns undefined if the run is not (or no longer) to be executed.
 */
export async function claimRun(sql: Sql, run: Run, owner: string): Promise<ClaimedRow | undefined> {
  return await query(sql).row`with picked as (
       select id from jobs where id = ${run.id} and attempt = ${run.attempt} and status = 'queued' for update
     )
     update jobs j set status = 'running', lease_owner = ${owner},
     lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
       started_at = coalesce(j.started_at, now())
     from picked where j.id = picked.id
     returning j.id, j.kind, j.payload, j.owner_id, j.rights, j.request_id, j.counts, j.checkpoint, j.attempt,
       j.failures, j.crashes_without_progress, j.slot, pg_notify('${embed(JOB_STATE_CHANNEL)}', j.id::text)`;
}

/**
 * Renews the lease, unless a transaction of the run itself has locked the row: until that ends no other worker can
 * claim the run.
 * @returns whether the lease is still valid, and whether the job has to stop.
 */
export async function renewLease(sql: Sql, lease: Lease): Promise<'held' | 'cancelled' | 'lost'> {
  const row = await query(sql).row`
     with free as (select id from jobs where ${held(lease)} for no key update skip locked),
          renewed as (
            update jobs j set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
            from free where j.id = free.id
          )
     select cancel_requested from jobs where ${held(lease)}`;
  if (!row) return 'lost';
  return row.cancel_requested ? 'cancelled' : 'held';
}

/** Stores progress if the row is not locked; progress is informational. */
export async function storeProgress(sql: Sql, lease: Lease, step: JobStep): Promise<void> {
  await query(sql).run`
     with free as (select id from jobs where ${held(lease)} for no key update skip locked)
     update jobs j set progress = coalesce(${fraction(step.progress)}, progress),
       message = coalesce(${step.message ?? null}, message), counts = coalesce(${json(step.counts)}::jsonb, counts)
     from free where j.id = free.id returning pg_notify('${embed(JOB_STATE_CHANNEL)}', j.id::text)`;
}

function requireLease(row: { cancel_requested: boolean } | undefined): void {
  if (!row) throw new JobLeaseLost();
  if (row.cancel_requested) throw new JobCancelled();
}

/** Stores the progress and checkpoint of the run; new values reset its crash count. @throws JobLeaseLost, JobCancelled. */
export async function storeStep(sql: Sql, lease: Lease, step: JobStep): Promise<void> {
  const row = await query(sql).row`update jobs j set
       progress = coalesce(step.progress, j.progress), message = coalesce(${step.message ?? null}, message),
       counts = coalesce(step.counts, j.counts), checkpoint = coalesce(step.checkpoint, j.checkpoint),
       crashes_without_progress = case when step.progress > j.progress
         or (step.counts is not null and step.counts is distinct from j.counts)
         or (step.checkpoint is not null and step.checkpoint is distinct from j.checkpoint) then 0 else crashes_without_progress end
     from (select ${fraction(step.progress)}::double precision as progress, ${json(step.counts)}::jsonb as counts,
       ${json(step.checkpoint)}::jsonb as checkpoint) as step
     where ${held(lease)} returning cancel_requested, ${news}`;
  requireLease(row);
}

/**
 * Prevents other workers from claiming the row until the transaction ends. The weakest row lock suffices: it conflicts
 * with those of `claimRun` and `requeueExpired`, but not with heartbeats, progress and cancellation.
 * @throws JobLeaseLost, JobCancelled.
 */
export async function lockRun(work: JobTransaction, lease: Lease): Promise<void> {
  const rows = await query(work.sql).rows`select cancel_requested from jobs
    where ${held(lease)} for key share`;
  requireLease(rows[0]);
}

/** Stores the result and ends the run with the status of `outcomeOf`. @returns false if the lease is lost. */
export async function completeRun(sql: Sql, lease: Lease, result: JobResult): Promise<boolean> {
  const end = outcomeOf(result);
  const ended = await query(sql).count`update jobs set
       status = ${end.status}, outcome = ${end.outcome}, error = ${json(end.error)}::jsonb, progress = 1,
       message = coalesce(${result.message ?? null}, message), counts = coalesce(${json(result.counts)}::jsonb, counts),
       result = ${json(result.result)}::jsonb, result_file_id = ${result.fileId ?? null}, checkpoint = null,
       lease_owner = null, lease_until = null, finished_at = clock_timestamp()
     where ${held(lease)} returning ${news}`;
  return ended > 0;
}

/** Stores the result and ends the run in the caller's transaction. @throws JobLeaseLost, JobCancelled. */
export async function finishRun(work: JobTransaction, lease: Lease, result: JobResult): Promise<void> {
  await lockRun(work, lease);
  if (!(await completeRun(work.sql, lease, result))) throw new JobLeaseLost();
}

/** Ends the run for good. @returns false if the lease is lost. */
export async function endRun(
  sql: Sql,
  lease: Lease,
  end: { status: 'cancelled' } | { status: 'failed'; error: { code: string; message: string } },
): Promise<boolean> {
  const error = json(end.status === 'failed' ? end.error : null);
  const ended = await query(sql).count`update jobs set status = ${end.status}, error = ${error}::jsonb,
       lease_owner = null, lease_until = null, finished_at = clock_timestamp()
     where ${held(lease)} returning ${news}`;
  return ended > 0;
}

/**
 * Why a run is requeued; `crash` and `failure` are counted, with increasing delays. `full`: the disk is full.
 */
type Requeue = 'interrupted' | 'crash' | 'failure' | 'full';

/** Seconds after which a run is retried when the disk was full. */
const ROOM_SECONDS = 10;

/**
 * Requeues the run as the next attempt, after a failure with a delay of at most `longestWaitSeconds`.
 * @returns false if the lease is lost.
 */
export async function requeueRun(
  sql: Sql,
  lease: Lease,
  why: Requeue,
  longestWaitSeconds = 60,
): Promise<boolean> {
  const requeued = await query(sql).count`update jobs set status = 'queued', attempt = attempt + 1,
       enqueued_at = null, lease_owner = null, lease_until = null,
       crashes = crashes + ${why === 'crash' ? 1 : 0}, failures = failures + ${why === 'failure' ? 1 : 0},
       run_after = now() + case ${why}
         when 'failure' then
           make_interval(secs => least(${longestWaitSeconds}::double precision, 2 ^ least(failures, 20)))
         when 'crash' then make_interval(secs => least(10, 1 + crashes))
         when 'full' then make_interval(secs => ${ROOM_SECONDS})
         else interval '0' end
     where ${held(lease)} returning ${news}, pg_notify('estate_jobs', '')`;
  return requeued > 0;
}

/**
 * Requeues runs with expired leases as their next attempt. A run whose last transaction is still open is skipped.
 * @returns the ids of the jobs.
 */
export async function requeueExpired(sql: Sql): Promise<string[]> {
  const rows = await query(sql).rows`with expired as (
       select id from jobs where status = 'running' and lease_until < now() for update skip locked
     )
     update jobs j set
       status = case when cancel_requested then 'cancelled' else 'queued' end,
       finished_at = case when cancel_requested then clock_timestamp() end,
       attempt = attempt + case when cancel_requested then 0 else 1 end,
       crashes = crashes + 1, crashes_without_progress = crashes_without_progress + 1, enqueued_at = null, run_after = now(),
       lease_owner = null, lease_until = null
     from expired where j.id = expired.id
     returning j.id, pg_notify('${embed(JOB_STATE_CHANNEL)}', j.id::text)`;
  return rows.map((row: { id: string }) => row.id);
}

/**
 * Marks due runs as enqueued and returns them, oldest first: those that were not enqueued yet, and those that have not
 * started for a while. Concurrent callers get different runs.
 */
export async function takeDueRuns(sql: Sql, limit: number): Promise<DueRun[]> {
  const rows = await query(sql).rows`with due as (
       select id from jobs
       where status = 'queued' and run_after <= now()
         and (enqueued_at is null or enqueued_at < now() - make_interval(secs => ${FORGOTTEN_SECONDS}))
       order by enqueued_at nulls first, id limit ${limit} for update skip locked
     )
     update jobs j set enqueued_at = now() from due where j.id = due.id
     returning j.id, j.attempt, j.queue, old.enqueued_at is not null as again`;
  return rows.sort((a: DueRun, b: DueRun) => (a.id < b.id ? -1 : 1));
}

/** Clears the mark of runs that could not be enqueued. */
export async function markNotEnqueued(sql: Sql, ids: string[]): Promise<void> {
  await sql('jobs').whereIn('id', ids).where({ status: 'queued' }).update({ enqueued_at: null });
}

/**
 * Requeues a queued run as the next attempt, because the queue assigned it to a worker that crashed before claiming it.
 * @returns whether it was still queued.
 */
export async function nextAttempt(sql: Sql, run: Run): Promise<boolean> {
  const changed = await sql('jobs')
    .where({ id: run.id, attempt: run.attempt, status: 'queued' })
    .update({ attempt: run.attempt + 1, enqueued_at: sql.fn.now() });
  return changed > 0;
}

/** Whether a successful job processed everything, or some of its rows failed. */
const jobOutcomes = ['complete', 'partial'] as const;

/** How a job ends whose processor has returned a result. */
type JobEnd =
  | { status: 'succeeded'; outcome: (typeof jobOutcomes)[number]; error: null }
  | { status: 'failed'; outcome: null; error: { code: string; message: string } };

/**
 * Applies to all kinds of jobs: a job fails if its result says so, or if all of its rows have failed; it is partial if
 * some rows failed or were left out. Rows are counted by `total` and `failed`; kinds without rows have neither.
 * `left_out` counts input that was not imported and is not a row of the job.
 */
export function outcomeOf({ counts, error }: JobResult): JobEnd {
  if (error) return { status: 'failed', outcome: null, error };
  const { total = 0, failed = 0, left_out = 0 } = counts ?? {};
  if (failed > 0 && failed === total) return { status: 'failed', outcome: null, error: allFailed(total) };
  return { status: 'succeeded', outcome: failed + left_out > 0 ? 'partial' : 'complete', error: null };
}

/** The error of a job that wrote nothing because rows failed. */
export function nothingWritten({ total, failed }: JobCounts): { code: string; message: string } {
  return { code: 'nothing_written', message: `Nothing was written: ${failed} of ${total} rows failed` };
}

const allFailed = (total: number) => ({
  code: 'nothing_written',
  message: total === 1 ? 'The only row failed' : `Each of the ${total} rows failed`,
});
