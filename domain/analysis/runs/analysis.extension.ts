import { CLEANUP_BATCH, deleteExpired, type Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { AiOutcome, AiUsage, AnalysisPart, AnalysisRun, computedByRuns } from './runs.model.ts';
import { deleteOldModels, deleteOldRuns } from './runs.retention.ts';

const history = {
  events: {},
  undo: { refused: 'What a language model was asked stays counted.' },
  transfer: { excluded: 'service', reason: 'Usage belongs to the service in which it occurred.' },
} as const satisfies Partial<Resource>;

/** Runs of analyses, and the usage of language models. */
export const analysisExtension: Extension = {
  resources: [
    // their events are only a record: undoing a batch leaves runs in the list
    { ...computedByRuns, model: AnalysisRun, name: 'analysis run' },
    { ...computedByRuns, model: AnalysisPart, name: 'analysis part' },
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
