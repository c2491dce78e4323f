import Type from 'typebox';
import { AnalysisRun } from '../../domain/analysis/runs/runs.model.ts';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

export const AnalysisRunSchema = Type.Partial(
  Type.Object({
    ...AnalysisRun.columns,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    message: Nullable(Type.String({ description: 'The current step' })),
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
