import Type from 'typebox';
import { type RowOf, rowModel } from '../resources/rows.ts';
import { Key, Nullable, NullableText, Timestamp, Uuid } from '../shapes.ts';

/** A formula that computes a field of a card type. */
export class Calculation extends rowModel('calculations', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 300 }),
  description: Nullable(Type.String({ maxLength: 5000 })),
  target_type_key: Key,
  target_field_key: Type.String({ minLength: 1, maxLength: 200 }),
  formula: Type.String({ minLength: 1, maxLength: 5000, description: 'See the page on formulas' }),
  is_active: Type.Boolean(),
  execution_order: Type.Integer({
    minimum: -1_000_000,
    maximum: 1_000_000,
    description: 'Among formulas that do not read each other, the lower one runs first; 0 unless given',
  }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type CalculationRow = RowOf<typeof Calculation>;

/** The columns that determine what a formula computes. */
export type CalculationFormula = Pick<
  CalculationRow,
  'id' | 'target_type_key' | 'target_field_key' | 'formula' | 'execution_order'
>;

/** The latest result of a formula, on any card. A separate table, because concurrent writers of cards update it. */
export class CalculationRun extends rowModel('calculation_runs', {
  calculation_id: Uuid,
  last_error: NullableText('The error of the last run on any card; null when it succeeded'),
  last_run_at: Nullable(Timestamp),
}) {}
