import Type from 'typebox';
import { object } from '../../kernel/shapes.ts';

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
export interface ModelPart {
  /** The purpose, such as `category`. */
  part: string;
  provider: string;
  model: string;
  /** The prompt with its version, such as `vendor-category@2`. */
  prompt: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
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
