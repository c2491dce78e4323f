import Type from 'typebox';
import { Priority } from '../../domain/analysis/modernizations/modernizations.list.ts';
import {
  Modernization,
  ModernizationDecision,
} from '../../domain/analysis/modernizations/modernizations.model.ts';
import { modernizationTypes } from '../../domain/analysis/modernizations/modernizations.types.ts';
import { AnalysisRun } from '../../domain/analysis/runs/runs.model.ts';
import { Choice, closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

export const AnalysisStatusOut = Type.Object(
  {
    ai_configured: Type.Boolean({ description: 'Whether a provider of language models is set up' }),
    ready: Type.Boolean({ description: 'Whether analyses can be run: they need no language model' }),
    enabled: Type.Boolean({ description: 'Whether the module is switched on' }),
  },
  { $id: 'AnalysisStatus', ...closed },
);

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

const { run_id: _run, is_current: _current, score_without_costs: _score, ...columns } = Modernization.columns;
const { decided_by, decided_at } = ModernizationDecision.columns;

export const ModernizationSchema = Type.Partial(
  Type.Object({
    ...columns,
    cluster_id: Nullable(Uuid),
    card_name: Type.String(),
    priority: Priority,
    decided_by,
    decided_at: Nullable(decided_at),
  }),
  { $id: 'Modernization', ...closed },
);

export const ModernizationsBody = Type.Object(
  {
    target_type: Type.Optional(columns.target_type),
    modernization_type: Type.Optional(
      Choice(['general', ...modernizationTypes], '`general`: all types; otherwise only this one'),
    ),
  },
  closed,
);

export const ModernizationStatusBody = Type.Object({ status: columns.status }, closed);
