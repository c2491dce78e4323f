import Type from 'typebox';
import { Priority } from '../../domain/analysis/modernizations/modernizations.list.ts';
import {
  Modernization,
  ModernizationDecision,
} from '../../domain/analysis/modernizations/modernizations.model.ts';
import { modernizationTypes } from '../../domain/analysis/modernizations/modernizations.types.ts';
import { Choice, closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

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
