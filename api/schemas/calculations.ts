import Type from 'typebox';
import { Calculation, CalculationRun } from '../../domain/kernel/formulas/calculations.model.ts';
import {
  component,
  itemComponent,
  Nullable,
  object,
  partialObject,
  Uuid,
} from '../../domain/kernel/shapes.ts';

const { last_error, last_run_at } = CalculationRun.columns;
export const CalculationSchema = itemComponent('Calculation', {
  ...Calculation.columns,
  broken_reason: Nullable(
    Type.String({
      description: 'Why it is no longer valid in the metamodel and does not run; null if it is valid',
    }),
  ),
  last_error,
  last_run_at,
});

/** The result of a formula: one value, or a list of options. */
const Value = Nullable(
  Type.Union([
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
  ]),
);

export const CalculationTrialSchema = component('CalculationTrial', {
  success: Type.Boolean(),
  error: Nullable(Type.String()),
  computed_value: Value,
  card_name: Type.String(),
});

export const FormulaCheckSchema = component('FormulaCheck', {
  valid: Type.Boolean(),
  error: Nullable(Type.String()),
  preview_result: Value,
});

const { name, target_type_key, target_field_key, formula, description, execution_order } =
  Calculation.columns;
const required = { name, target_type_key, target_field_key, formula };
const optional = Type.Partial(Type.Object({ description, execution_order })).properties;
export const CalculationCreateBody = object({ ...required, ...optional });
export const CalculationPatchBody = partialObject({ ...required, ...optional });
export const CalculationTrialBody = object({ card_id: Uuid });
export const FormulaCheckBody = object({ formula, target_type_key });
