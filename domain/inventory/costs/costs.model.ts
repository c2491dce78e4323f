import Type from 'typebox';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { DateOnly, Nullable, NumberIn, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The topic that every write here raises: reports over costs depend on it. */
export const COSTS_TOPIC = 'costs';

/** Costs that one card or one relation may have. */
export const MAX_COSTS = 10_000;
/** The largest amount, so that sums keep their cents. */
export const MAX_AMOUNT = 1e11;
export const MAX_COST_DESCRIPTION = 1_000;

/** An amount that a card or a relation costs in a period. */
export class Cost extends rowModel('costs', {
  id: Uuid,
  card_id: Nullable(Type.String({ ...Uuid, description: 'Null for the cost of a relation' })),
  relation_id: Nullable(Type.String({ ...Uuid, description: 'Null for the cost of a card' })),
  kind: Type.String({
    minLength: 1,
    maxLength: 100,
    examples: ['licence'],
    description: 'A key of the setting `cost-kinds`',
  }),
  period_start: Type.String({ ...DateOnly, description: 'The first day of the period' }),
  period_end: Type.String({ ...DateOnly, description: 'The last day of the period, which belongs to it' }),
  amount: NumberIn(-MAX_AMOUNT, MAX_AMOUNT, 'For the whole period; negative for a credit'),
  currency: Type.String({ pattern: '^[A-Z]{3}$', examples: ['EUR'], description: 'A code of ISO 4217' }),
  description: Nullable(Type.String({ maxLength: MAX_COST_DESCRIPTION })),
  external_id: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The id of the cost in another system; unique in the workspace',
    }),
  ),
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
export type CostRow = RowOf<typeof Cost>;

/** The members that a client or an import row sets. */
export type CostInput = Pick<
  CostRow,
  'kind' | 'period_start' | 'period_end' | 'amount' | 'currency' | 'description' | 'external_id'
>;
