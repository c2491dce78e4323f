import Type from 'typebox';
import type { Resource } from '../../kernel/resources/resource.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, OpenObject, object, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { analysisTypes, runStatuses } from './runs.types.ts';

const Count = Type.Integer({ minimum: 0 });

const ModelPart = object({
  part: Type.String({ description: 'What the language model did' }),
  provider: Type.String(),
  model: Type.String(),
  prompt: Type.String({ description: 'The prompt with its version', examples: ['vendor-category@2'] }),
  calls: Count,
  input_tokens: Count,
  output_tokens: Count,
});

export class AnalysisRun extends rowModel('analysis_runs', {
  id: Uuid,
  analysis_type: Choice(analysisTypes, 'What is analysed'),
  status: Choice(runStatuses),
  parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'Those of the request' }),
  model_version: Nullable(Type.String({ description: 'The version of the learned model that was applied' })),
  results: Nullable(OpenObject),
  model_parts: Type.Array(ModelPart, { description: 'The parts that used a language model' }),
  error_code: Nullable(Type.String()),
  error_message: Nullable(Type.String()),
  job_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
}) {}
export type RunRow = RowOf<typeof AnalysisRun>;

/** The result of a step of a run, from which an interrupted run resumes. */
export class AnalysisPart extends rowModel('analysis_parts', {
  run_id: Uuid,
  part: Type.String(),
  content: Type.String(),
}) {}

const tokens = { calls: Count, tokens_in: Count, tokens_out: Count };

/** The usage of language models by day. */
export class AiUsage extends rowModel('ai_usage', {
  day: DateOnly,
  run_id: Nullable(Uuid),
  purpose: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  ...tokens,
  tokens_reserved: Count,
  id: Uuid,
}) {}

/** The outcomes of requests to language models. */
export class AiOutcome extends rowModel('ai_outcomes', {
  provider: Type.String(),
  purpose: Type.String(),
  outcome: Type.String(),
  questions: Count,
  ...tokens,
}) {}

/** The undo declaration of resources whose rows are recomputed by the next run of an analysis. */
export const computedByRuns = {
  events: {},
  undo: { refused: 'The next run computes it again.' },
  transfer: { excluded: 'derived', reason: 'The next run computes it again.' },
} as const satisfies Partial<Resource>;
