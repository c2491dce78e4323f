import Type from 'typebox';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

export const CalculationSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    name: Type.String(),
    description: Nullable(Type.String()),
    target_type_key: Type.String(),
    target_field_key: Type.String(),
    formula: Type.String(),
    is_active: Type.Boolean(),
    execution_order: Type.Integer(),
    broken_reason: Nullable(
      Type.String({ description: 'Why it no longer fits the metamodel, and is not run; null while it fits' }),
    ),
    last_error: Nullable(
      Type.String({ description: 'What the last run met, in any card; null when it went well' }),
    ),
    last_run_at: Nullable(Timestamp),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  { $id: 'Calculation', ...closed },
);

/** What a formula may give: one value, or a list of options. */
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

const Name = Type.String({ minLength: 1, maxLength: 300 });
const TypeKey = Type.String({ minLength: 1, maxLength: 100 });
const FieldKey = Type.String({ minLength: 1, maxLength: 200 });
const FormulaText = Type.String({ minLength: 1, maxLength: 5000, description: 'See the page on formulas' });
const more = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
  execution_order: Type.Optional(
    Type.Integer({
      minimum: -1_000_000,
      maximum: 1_000_000,
      description: 'Among formulas that do not read each other, the lower one runs first; 0 unless given',
    }),
  ),
};

export const CalculationCreateBody = Type.Object(
  { name: Name, target_type_key: TypeKey, target_field_key: FieldKey, formula: FormulaText, ...more },
  closed,
);
export const CalculationPatchBody = Type.Object(
  {
    name: Type.Optional(Name),
    target_type_key: Type.Optional(TypeKey),
    target_field_key: Type.Optional(FieldKey),
    formula: Type.Optional(FormulaText),
    ...more,
  },
  closed,
);
export const CalculationTrialBody = Type.Object({ card_id: Uuid }, closed);
export const FormulaCheckBody = Type.Object({ formula: FormulaText, target_type_key: TypeKey }, closed);
