import Type from 'typebox';
import { Calculation, CalculationRun } from '../../domain/kernel/formulas/calculations.model.ts';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

const { last_error, last_run_at } = CalculationRun.columns;
export const CalculationSchema = Type.Partial(
  Type.Object({
    ...Calculation.columns,
    broken_reason: Nullable(
      Type.String({ description: 'Why it is no longer valid in the metamodel, and does not run; else null' }),
    ),
    last_error,
    last_run_at,
  }),
  { $id: 'Calculation', ...closed },
);

/** The result of a formula: one value, or a list of options. */
const Value = Nullable(
  Type.Union([
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
  ]),
);

export const CalculationTrialSchema = Type.Object(
  {
    success: Type.Boolean(),
    error: Nullable(Type.String()),
    computed_value: Value,
    card_name: Type.String(),
  },
  { $id: 'CalculationTrial', ...closed },
);

export const FormulaCheckSchema = Type.Object(
  { valid: Type.Boolean(), error: Nullable(Type.String()), preview_result: Value },
  { $id: 'FormulaCheck', ...closed },
);

const { name, target_type_key, target_field_key, formula, description, execution_order } =
  Calculation.columns;
const required = { name, target_type_key, target_field_key, formula };
const optional = Type.Partial(Type.Object({ description, execution_order })).properties;
export const CalculationCreateBody = Type.Object({ ...required, ...optional }, closed);
export const CalculationPatchBody = Type.Partial(Type.Object({ ...required, ...optional }), closed);
export const CalculationTrialBody = Type.Object({ card_id: Uuid }, closed);
export const FormulaCheckBody = Type.Object({ formula, target_type_key }, closed);
