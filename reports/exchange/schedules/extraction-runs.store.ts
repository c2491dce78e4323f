import type { Knex } from 'knex';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { JobRights } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';

/** A run with the columns of its schedule. */
export interface ExtractionRun {
  id: string;
  schedule_id: string;
  schedule_name: string;
  slot: Date;
  request: ExportRequest;
  destination: StoredDestination;
  /** Encrypted. */
  secret: string | null;
  owner_id: string | null;
  rights: JobRights;
  /** The position after which an incremental run extracts changes; null: everything. */
  after: string | null;
  file_id: string | null;
  manifest_id: string | null;
}

/** The job of a run. */
interface RunJob {
  id: string;
  slot: Date | null;
  scheduleId: string;
}

/** Inserts the run's row for a job that the scheduler enqueued. @returns whether the schedule still exists. */
async function ensureRunRow(sql: Knex.Transaction, job: RunJob): Promise<boolean> {
  const schedules = await query(sql)
    .rows`select id from extraction_schedules where id = ${job.scheduleId} for key share`;
  if (!schedules[0]) return false;
  await query(sql)
    .run`insert into extraction_runs (schedule_id, job_id, trigger, slot) select ${job.scheduleId}, ${job.id}, 'schedule', ${job.slot} where ${job.slot}::timestamptz is not null
     on conflict (job_id) do nothing`;
  return true;
}

const withSchedule = `r.id, r.schedule_id, e.name as schedule_name, r.slot, e.request, r.destination, e.secret, e.owner_id,
  e.rights, r.file_id, r.manifest_id, case when e.incremental then e.position::text end as after`;

/** Locks the run of a failed job, which may have failed before it began; undefined if the schedule is deleted. */
export async function lockFailedRun(sql: Knex.Transaction, job: RunJob): Promise<ExtractionRun | undefined> {
  if (!(await ensureRunRow(sql, job))) return undefined;
  const rows = await query(sql)
    .rows`select ${embed(withSchedule)} from extraction_runs r join extraction_schedules e on e.id = r.schedule_id
     where r.job_id = ${job.id} for update of r`;
  return rows[0];
}

/**
 * Begins or resumes the run of a job. A file that was written before the schedule was changed is discarded.
 * @returns undefined if the schedule is deleted.
 */
export async function beginRun(sql: Knex.Transaction, job: RunJob): Promise<ExtractionRun | undefined> {
  if (!(await ensureRunRow(sql, job))) return undefined;
  // a file of the schedule's former version, perhaps with another owner's rights, must not be delivered
  await query(sql).run`with stale as (
       select r.id, r.file_id, r.manifest_id from extraction_runs r join extraction_schedules e on e.id = r.schedule_id
       where r.job_id = ${job.id} and r.file_id is not null and e.updated_at > r.started_at
     ), gone as (
       update files f set expires_at = now() from stale s where f.id in (s.file_id, s.manifest_id)
     )
     update extraction_runs r set file_id = null, manifest_id = null, started_at = null from stale s where r.id = s.id`;
  const rows = await query(sql)
    .rows`update extraction_runs r set status = 'running', attempts = r.attempts + 1, error = null, finished_at = null,
       started_at = coalesce(r.started_at, clock_timestamp()), destination = e.destination
     from extraction_schedules e where r.job_id = ${job.id} and e.id = r.schedule_id
     returning ${embed(withSchedule)}`;
  return rows[0];
}

/** Whether a later run of the schedule has succeeded; its files remain the latest. */
export async function hasNewerRun(
  sql: Sql,
  run: { id: string; schedule_id: string; slot: Date },
): Promise<boolean> {
  const rows = await query(sql)
    .rows`select from extraction_runs where schedule_id = ${run.schedule_id} and slot > ${run.slot} and status = 'succeeded' limit 1`;
  return rows.length > 0;
}
