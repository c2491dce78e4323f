import type { Sql } from '../../../platform/database.ts';

/**
 * Deletes runs that ended this number of days ago, except for the last completed one of each kind and those to which
 * results refer.
 * @returns how many.
 */
export async function deleteOldRuns(sql: Sql, days: number, batch: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `with last as (
       select distinct on (analysis_type) id from analysis_runs where status = 'completed'
       order by analysis_type, created_at desc, id desc
     )
     delete from analysis_runs where id in (
       select r.id from analysis_runs r
       where r.status <> 'running' and r.completed_at < now() - make_interval(days => ?)
         and r.id not in (select id from last)
         and r.id not in (select run_id from duplicate_states)
         and r.id not in (select run_id from compliance_scanned)
         and not exists (select from duplicate_clusters c where c.run_id = r.id)
         and not exists (select from modernizations m where m.run_id = r.id and m.is_current)
       limit ${batch}
     )`,
    [days],
  );
  return rowCount as number;
}

/**
 * Deletes learned models this number of days after they were learned, unless results refer to them.
 * @returns how many.
 */
export async function deleteOldModels(sql: Sql, days: number, batch: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `delete from duplicate_models where id in (
       select m.id from duplicate_models m
       where m.learned_at < now() - make_interval(days => ?)
         and m.id not in (select model_id from duplicate_states)
         and m.id not in (select distinct model_id from duplicate_pairs)
       limit ${batch}
     )`,
    [days],
  );
  return rowCount as number;
}
