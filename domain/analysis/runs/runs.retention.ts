import type { Sql } from '../../../platform/database.ts';

/**
 * Removes runs that have ended so many days ago. Those stay of which something that is shown comes: the last of each kind that was
 * completed, and those to which what was found refers.
 * @param batch removed at most.
 * @returns how many have gone.
 */
export async function removeOldAnalyses(sql: Sql, days: number, batch: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `with kept as (
       select distinct on (analysis_type) id from analysis_runs where status = 'completed'
       order by analysis_type, created_at desc, id desc
     )
     delete from analysis_runs where id in (
       select r.id from analysis_runs r
       where r.status <> 'running' and r.completed_at < now() - make_interval(days => ?)
         and r.id not in (select id from kept)
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
 * Removes what searches for duplicates have learned, so many days after that, where nothing that was found is told by it any more.
 * @returns how many have gone.
 */
export async function removeOldModels(sql: Sql, days: number, batch: number): Promise<number> {
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
