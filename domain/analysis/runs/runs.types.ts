import Type, { type Static } from 'typebox';
import { Count, object } from '../../kernel/shapes.ts';

/** The kinds of analyses; at most one run of each is in progress. */
export const analysisTypes = [
  'duplicates',
  'vendors',
  'vendor_hierarchy',
  'modernizations',
  'portfolio_insights',
  'compliance',
] as const;

export type AnalysisType = (typeof analysisTypes)[number];

export const runStatuses = ['running', 'completed', 'failed', 'cancelled'] as const;

/** A part of a run that used a language model. */
export const ModelPart = object({
  part: Type.String({ description: 'What the language model did' }),
  provider: Type.String(),
  model: Type.String(),
  prompt: Type.String({ description: 'The prompt with its version', examples: ['vendor-category@2'] }),
  calls: Count,
  input_tokens: Count,
  output_tokens: Count,
});
export type ModelPart = Static<typeof ModelPart>;

/** The use of a language model by a run so far, as JSON, from which another worker resumes. */
export interface RunModelState {
  parts: ModelPart[];
  /** Why the model is no longer used. */
  stopped: { reason: string; message: string } | null;
}

/** The results of a completed run. */
export interface AnalysisOutcome {
  /** Figures by name, visible to all who may see runs: never costs or texts of cards. */
  results: Record<string, unknown>;
  modelVersion?: string | null;
  modelParts?: readonly ModelPart[];
}

/** The payload of every job that executes an analysis. */
export const analysisPayload = object({ run_id: Type.String({ format: 'uuid' }) });
