import { queryRows, queryValue, type Sql } from '../../../platform/database.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';

/** The history of a schedule goes back so far. */
const HISTORY_DAYS = 400;

/** A run whose files are no longer to be kept. */
export interface OutdatedRun {
  id: string;
  file_id: string | null;
  manifest_id: string | null;
  /** The names of its files. */
  names: string[];
  /** Whether they lie where the schedule's files go now. */
  here: boolean;
  schedule: { id: string; destination: StoredDestination; secret: string | null };
}

/**
 * The runs of a schedule past its number of kept ones or its days. The newest that has succeeded is kept whatever its
 * age, since it is the latest.
 */
export async function outdatedRuns(sql: Sql, scheduleId: string): Promise<OutdatedRun[]> {
  return await queryRows(
    sql,
    `with kept as (
       select r.*, row_number() over (order by slot desc) as place
       from extraction_runs r where r.schedule_id = ? and r.status = 'succeeded' and r.removed_at is null
     )
     select r.id, r.file_id, r.manifest_id, r.destination = e.destination as here,
       array(select f.name from files f where f.id in (r.file_id, r.manifest_id) order by f.name) as names,
       json_build_object('id', e.id, 'destination', e.destination, 'secret', e.secret) as schedule
     from kept r join extraction_schedules e on e.id = r.schedule_id
     where r.place > e.keep_runs
       or (r.place > 1 and r.slot < now() - make_interval(days => e.keep_days))
     order by r.slot limit 1000`,
    [scheduleId],
  );
}

/** Notes that a run's files are gone; what is stored of them here goes with the next clean-up. */
export async function noteRemoved(sql: Sql, run: OutdatedRun): Promise<void> {
  await sql.raw(
    `with noted as (update extraction_runs set removed_at = now() where id = ?)
     update files set expires_at = now() where id in (?, ?)`,
    [run.id, run.file_id, run.manifest_id],
  );
}

/** Schedules of which files are kept. */
export async function schedulesWithFiles(sql: Sql): Promise<string[]> {
  return await sql('extraction_runs')
    .where({ status: 'succeeded' })
    .whereNull('removed_at')
    .distinct()
    .pluck('schedule_id');
}

/** Removes what is left of runs that are long over. @returns how many. */
export async function removeOldRuns(sql: Sql): Promise<number> {
  return await queryValue(
    sql,
    `with gone as (
       delete from extraction_runs r
       where r.created_at < now() - interval '${HISTORY_DAYS} days'
         and (r.removed_at is not null or r.status <> 'succeeded')
         and not exists (select from jobs j where j.id = r.job_id and j.status in ('queued', 'running'))
       returning file_id, manifest_id
     ), expired as (
       update files f set expires_at = now() from gone g where f.id in (g.file_id, g.manifest_id)
     ) select count(*)::int as n from gone`,
  );
}
