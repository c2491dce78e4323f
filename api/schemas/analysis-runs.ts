import Type from 'typebox';
import { analysisTypes, runStatuses } from '../../domain/analysis/runs/runs.types.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const literals = (values: readonly string[], options = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );

export const AnalysisTypeSchema = literals(analysisTypes, { description: 'What is analysed' });
export const AnalysisStatusSchema = literals(runStatuses, { description: 'How the run stands' });
const Count = Type.Integer({ minimum: 0 });

const ModelPart = Type.Object(
  {
    part: Type.String({ description: 'What the language model did' }),
    provider: Type.String(),
    model: Type.String(),
    prompt: Type.String({ description: 'The prompt with its version' }),
    calls: Count,
    input_tokens: Count,
    output_tokens: Count,
  },
  closed,
);

export const AnalysisRunSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    analysis_type: AnalysisTypeSchema,
    status: AnalysisStatusSchema,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    message: Nullable(Type.String({ description: 'What it is at' })),
    job_id: Nullable(Uuid),
    parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'What was asked for' }),
    model_version: Nullable(Type.String({ description: 'Of what was learned and applied' })),
    model_parts: Type.Array(ModelPart, {
      description: 'The parts that a language model had a hand in; empty: none',
    }),
    results: Nullable(OpenObject),
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    started_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
  }),
  { $id: 'AnalysisRun', ...closed },
);

/** The answer of every operation that starts a run. */
export const StartedRunSchema = Type.Object(
  {
    run_id: Uuid,
    job_id: Uuid,
    status: Type.Literal('running'),
    links: Type.Object({ self: Type.String(), job: Type.String() }, closed),
  },
  { $id: 'StartedRun', ...closed },
);
