import { embed, query, type Sql } from '../../../platform/database.ts';
import { CLEANUP_BATCH, deleteExpired, type Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { AiOutcome, AiUsage, AnalysisRun, computedByRuns } from './runs.ts';

const history = {
  events: {},
  undo: { refused: 'What a language model was asked stays counted.' },
  transfer: { excluded: 'service', reason: 'Usage belongs to the service in which it occurred.' },
} as const satisfies Partial<Resource>;

/** Runs of analyses, and the usage of language models. */
export const analysisExtension: Extension = {
  resources: [
    // Their events only document runs: undoing a batch does not remove runs from the list.
    { ...computedByRuns, model: AnalysisRun, name: 'analysis run' },
    { ...history, model: AiUsage, name: 'usage of a language model' },
    { ...history, model: AiOutcome, name: 'outcome of a language model' },
  ],
  cleanups: {
    ai_usage: deleteExpired(
      'ai_usage',
      'day < now() - make_interval(days => ?)',
      ({ events_days }) => events_days,
    ),
    analysis_runs: (sql, { analysis_runs_days }) => deleteOldRuns(sql, analysis_runs_days, CLEANUP_BATCH),
    duplicate_models: (sql, { analysis_runs_days }) =>
      deleteOldModels(sql, analysis_runs_days, CLEANUP_BATCH),
  },
};

/**
 * Deletes runs that ended this number of days ago, except the last completed one of each kind and those that results
 * reference.
 * @returns the number of deleted runs.
 */
async function deleteOldRuns(sql: Sql, days: number, batch: number): Promise<number> {
  return await query(sql).count`with last as (
       select distinct on (analysis_type) id from analysis_runs where status = 'completed'
       order by analysis_type, created_at desc, id desc
     )
     delete from analysis_runs where id in (
       select r.id from analysis_runs r
       where r.status <> 'running' and r.completed_at < now() - make_interval(days => ${days})
         and r.id not in (select id from last)
         and r.id not in (select run_id from duplicate_states)
         and r.id not in (select run_id from compliance_scanned)
         and not exists (select from duplicate_clusters c where c.run_id = r.id)
         and not exists (select from modernizations m where m.run_id = r.id and m.is_current)
       limit ${embed(batch)}
     )`;
}

/**
 * Deletes learned models this number of days after they were learned, unless results reference them.
 * @returns the number of deleted models.
 */
async function deleteOldModels(sql: Sql, days: number, batch: number): Promise<number> {
  return await query(sql).count`delete from duplicate_models where id in (
       select m.id from duplicate_models m
       where m.learned_at < now() - make_interval(days => ${days})
         and m.id not in (select model_id from duplicate_states)
         and m.id not in (select distinct model_id from duplicate_pairs)
       limit ${embed(batch)}
     )`;
}
