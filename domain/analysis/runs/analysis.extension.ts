import { CLEANUP_BATCH, deleteExpired, type Extension } from '../../kernel/extensions.ts';
import { removeOldAnalyses, removeOldModels } from './runs.retention.ts';

/** Runs of analyses, and what their models learn and cost. */
export const analysisExtension: Extension = {
  cleanups: {
    ai_usage: deleteExpired(
      'ai_usage',
      'day < now() - make_interval(days => ?)',
      ({ events_days }) => events_days,
    ),
    analysis_runs: (sql, { analysis_runs_days }) => removeOldAnalyses(sql, analysis_runs_days, CLEANUP_BATCH),
    duplicate_models: (sql, { analysis_runs_days }) =>
      removeOldModels(sql, analysis_runs_days, CLEANUP_BATCH),
  },
};
