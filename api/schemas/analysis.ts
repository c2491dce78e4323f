import Type from 'typebox';
import { Priority } from '../../domain/analysis/modernizations/modernizations.list.ts';
import {
  Modernization,
  ModernizationDecision,
} from '../../domain/analysis/modernizations/modernizations.model.ts';
import { modernizationTypes } from '../../domain/analysis/modernizations/modernizations.types.ts';
import { AnalysisRun } from '../../domain/analysis/runs/runs.ts';
import { Choice, component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';

export const AnalysisStatusOut = component('AnalysisStatus', {
  ai_configured: Type.Boolean({ description: 'Whether a provider of language models is configured' }),
  ready: Type.Boolean({ description: 'Whether analyses can be run: they need no language model' }),
  enabled: Type.Boolean({ description: 'Whether the module is enabled' }),
});

export const AnalysisRunSchema = itemComponent('AnalysisRun', {
  ...AnalysisRun.columns,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  message: Nullable(Type.String({ description: 'The current step' })),
});

/** The response of every operation that starts a run. */
export const StartedRunSchema = component('StartedRun', {
  run_id: Uuid,
  job_id: Uuid,
  status: Type.Literal('running'),
  links: object({ self: Type.String(), job: Type.String() }),
});

const { run_id: _run, is_current: _current, score_without_costs: _score, ...columns } = Modernization.columns;
const { decided_by, decided_at } = ModernizationDecision.columns;

export const ModernizationSchema = itemComponent('Modernization', {
  ...columns,
  cluster_id: Nullable(Uuid),
  card_name: Type.String(),
  priority: Priority,
  decided_by,
  decided_at: Nullable(decided_at),
});

export const ModernizationsBody = object({
  target_type: Type.Optional(columns.target_type),
  modernization_type: Type.Optional(
    Choice(['general', ...modernizationTypes], '`general`: all types; otherwise only this one'),
  ),
});

export const ModernizationStatusBody = object({ status: columns.status });
