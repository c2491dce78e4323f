import { embed, query, type Sql } from '../../../platform/database.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';

/** How long finished runs are stored, as a PostgreSQL interval. */
const HISTORY_DAYS = 400;

/** A run whose files have to be removed. */
export interface OutdatedRun {
  id: string;
  file_id: string | null;
  manifest_id: string | null;
  /** The names of its files. */
  names: string[];
  /** Whether they are at the schedule's current destination. */
  here: boolean;
  schedule: { id: string; destination: StoredDestination; secret: string | null };
}

/**
 * The runs of a schedule beyond `keep_runs` or `keep_days`. The newest succeeded run is retained regardless of its age.
 */
export async function outdatedRuns(sql: Sql, scheduleId: string): Promise<OutdatedRun[]> {
  return await query(sql).rows`with succeeded as (
       select r.*, row_number() over (order by slot desc) as place
       from extraction_runs r where r.schedule_id = ${scheduleId} and r.status = 'succeeded' and r.removed_at is null
     )
     select r.id, r.file_id, r.manifest_id, r.destination = e.destination as here,
       array(select f.name from files f where f.id in (r.file_id, r.manifest_id) order by f.name) as names,
       json_build_object('id', e.id, 'destination', e.destination, 'secret', e.secret) as schedule
     from succeeded r join extraction_schedules e on e.id = r.schedule_id
     where r.place > e.keep_runs
       or (r.place > 1 and r.slot < now() - make_interval(days => e.keep_days))
     order by r.slot limit 1000`;
}

/** Records that a run's delivered files are removed; our own copies expire with the next clean-up. */
export async function recordRemoval(sql: Sql, run: OutdatedRun): Promise<void> {
  await query(sql).run`with removed as (update extraction_runs set removed_at = now() where id = ${run.id})
     update files set expires_at = now() where id in (${run.file_id}, ${run.manifest_id})`;
}

/** Ids of schedules that have files. */
export async function schedulesWithFiles(sql: Sql): Promise<string[]> {
  return await sql('extraction_runs')
    .where({ status: 'succeeded' })
    .whereNull('removed_at')
    .distinct()
    .pluck('schedule_id');
}

/** Deletes runs past the retention. @returns how many. */
export async function removeOldRuns(sql: Sql): Promise<number> {
  return await query(sql).value`with gone as (
       delete from extraction_runs r
       where r.created_at < now() - interval '${embed(HISTORY_DAYS)} days'
         and (r.removed_at is not null or r.status <> 'succeeded')
         and not exists (select from jobs j where j.id = r.job_id and j.status in ('queued', 'running'))
       returning file_id, manifest_id
     ), expired as (
       update files f set expires_at = now() from gone g where f.id in (g.file_id, g.manifest_id)
     ) select count(*)::int as n from gone`;
}
