import { embed, query, type Sql } from '../../../platform/database.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { mappingConsumers } from './mappings.references.ts';
import { undoMappingRename } from './mappings.rename.ts';
import { itsmRunJob, itsmScheduleJob } from './runs.job.ts';

/** Synchronisation with ITSM systems. */
export const itsmExtension: Extension = {
  jobs: [itsmRunJob, itsmScheduleJob],
  consumers: [mappingConsumers],
  undo: [{ entity: 'itsm_mapping', events: { updated: ['itsm_mapping.renamed'] }, undo: undoMappingRename }],
  undoRights: { 'itsm_mapping.renamed': needs('admin.metamodel') },
  cleanups: { itsm_runs: (sql, { itsm_runs_days }) => removeOldRuns(sql, itsm_runs_days) },
};

/** Plan rows that one call deletes, or one larger plan. */
const MAX_ROWS = 50_000;

/**
 * Deletes runs that ended more than `days` ago, with their plans and logs. The last completed run of each mapping and the last
 * one that can be undone are retained. Pairs and their bases are not affected.
 * @returns the number of deleted runs; 0 when none is left.
 */
async function removeOldRuns(sql: Sql, days: number): Promise<number> {
  return await query(sql).count`with retained as (
       select k.id from itsm_mappings m, lateral (
         (select r.id from itsm_runs r where r.mapping_id = m.id and r.status = 'completed' order by r.id desc limit 1)
         union all
         (select r.id from itsm_runs r where r.mapping_id = m.id
            and exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'applied')
            and not exists (select from itsm_runs u where u.undo_of = r.id and u.status = 'completed')
          order by r.id desc limit 1)
       ) k
     ),
     old as (
       select r.id, coalesce(sum((select sum(n::bigint) from jsonb_each_text(r.stats -> 'planned') as a(action, n)))
         over (order by r.id rows between unbounded preceding and 1 preceding), 0) as rows_before
       from itsm_runs r
       where r.status in ('completed', 'failed', 'cancelled', 'superseded')
         and r.completed_at < now() - make_interval(days => ${days})
         and not exists (select from retained where retained.id = r.id)
         and not exists (select from itsm_runs u where u.undo_of = r.id and u.status in ('queued', 'running', 'review'))
     )
     delete from itsm_runs r using old where r.id = old.id and old.rows_before < ${embed(MAX_ROWS)}`;
}
