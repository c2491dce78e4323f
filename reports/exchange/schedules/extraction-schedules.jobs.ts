import type { Knex } from 'knex';
import { scheduledExtractionJob } from '../../../domain/exchange/exports/export.job.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../../domain/kernel/jobs/jobs.lease.ts';
import { query } from '../../../platform/database.ts';

/** Ids of the queued and running jobs of a schedule, which also include one that waits for its next attempt. */
export async function activeJobs(sql: Knex.Transaction, scheduleId: string): Promise<string[]> {
  const rows = await query(sql).rows<{ id: string }>`select id from jobs
    where kind = ${scheduledExtractionJob.kind} and status in ('queued', 'running')
      and payload ->> 'schedule_id' = ${scheduleId}`;
  return rows.map(({ id }) => id);
}

/** Cancels the queued and running jobs of a schedule; a running one ends as soon as its worker has noticed. */
export async function cancelJobs(sql: Knex.Transaction, scheduleId: string): Promise<void> {
  const ids = await activeJobs(sql, scheduleId);
  await query(sql).run`update jobs set cancel_requested = true,
       status = case status when 'queued' then 'cancelled' else status end,
       finished_at = case status when 'queued' then now() end
     where id = any(${ids}::uuid[]) and status in ('queued', 'running')`;
  await query(sql).run`select pg_notify(${JOB_CANCEL_CHANNEL}, id), pg_notify(${JOB_STATE_CHANNEL}, id)
     from unnest(${ids}::text[]) id`;
}
