import Type from 'typebox';

/** Every kind of analysis; of each, one run at most is under way. */
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

type RunStatus = (typeof runStatuses)[number];

/** A part of a run that a language model had a hand in. */
export interface ModelPart {
  /** What it did, such as `category`. */
  part: string;
  provider: string;
  model: string;
  /** The prompt with its version, such as `vendor-category@2`. */
  prompt: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
}

/** How a run ends well. */
export interface AnalysisOutcome {
  /** Figures by name, seen by all who may see runs: never costs, never texts of cards. */
  results: Record<string, unknown>;
  modelVersion?: string | null;
  modelParts?: readonly ModelPart[];
}

/** A run as it is stored. */
export interface RunRow {
  id: string;
  analysis_type: AnalysisType;
  status: RunStatus;
  parameters: Record<string, unknown>;
  job_id: string | null;
  created_by: string | null;
}

/** The payload of every job that carries out an analysis. */
export const analysisPayload = Type.Object(
  { run_id: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
);
