import Type from 'typebox';
import { MAX_CARDS } from '../../domain/governance/risks/risks.cards.ts';
import {
  cardRoles,
  impacts,
  levels,
  probabilities,
  Risk,
  RiskCard,
  riskCategories,
  riskStatuses,
  Text,
  Title,
} from '../../domain/governance/risks/risks.model.ts';
import {
  Choice,
  component,
  DateOnly,
  Nullable,
  object,
  partialObject,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { answersOf, bodiesOf } from './common.ts';

const { initial_probability: Probability } = Risk.columns;
const { initial_impact: Impact } = Risk.columns;
const Level = Choice(levels);
const { category: Category } = Risk.columns;
const CardIds = (minItems: number) =>
  Type.Array(Uuid, { minItems, maxItems: MAX_CARDS, description: 'Duplicates count once' });

const cardLink = object({
  card_id: Uuid,
  card_name: Type.String(),
  card_type: Type.String(),
  role: RiskCard.columns.role,
});
const risk = {
  ...Risk.columns,
  initial_level: Level,
  residual_level: Nullable(Level),
  owner_name: Nullable(Type.String()),
  cards: Type.Array(cardLink, { description: 'Linked cards that the caller sees' }),
};
const answers = answersOf('Risk', risk);
export const RiskSchema = answers.whole;
export const RiskItemSchema = answers.item;

const estimate = { category: Category, initial_probability: Probability, initial_impact: Impact };
const plan = {
  owner_id: Nullable(Type.String({ ...Uuid, description: 'An active user' })),
  target_resolution_date: Nullable(DateOnly),
};
export const RiskCreateBody = bodiesOf(
  { title: Title },
  { description: Text, ...estimate, ...plan, card_ids: CardIds(0) },
).create;
export const RiskPatchBody = partialObject({
  title: Title,
  description: Nullable(Text),
  ...estimate,
  residual_probability: Nullable(Probability),
  residual_impact: Nullable(Impact),
  ...plan,
  status: Choice(riskStatuses, 'Refused with `wrong_state` if it cannot follow the current status'),
  acceptance_rationale: Nullable(
    Type.String({
      maxLength: 10_000,
      description: 'Required for `accepted`; cleared when the status changes to another one',
    }),
  ),
});
export const CardLinkBody = object({
  card_ids: CardIds(1),
  role: Type.Union(
    cardRoles.map((role) => Type.Literal(role)),
    { default: 'affected' },
  ),
});
const promotion = partialObject({
  title: Nullable(Title),
  description: Nullable(Text),
  category: Nullable(Category),
  initial_probability: Nullable(Probability),
  initial_impact: Nullable(Impact),
  ...plan,
});
/** Optional. */
export const PromotionBody = Type.Unsafe<Record<string, unknown> | null | undefined>({
  ...promotion,
  type: ['object', 'null'],
});

const Count = Type.Integer({ minimum: 0 });
const counts = (values: readonly string[]) =>
  object(Object.fromEntries(values.map((value) => [value, Count])));
const Matrix = (of: string) =>
  Type.Array(Type.Array(Count), {
    description: `Four rows of four: by ${of} probability (${probabilities.join(', ')}) and, in each row, impact (${impacts.join(', ')})`,
  });
export const RiskMetricsSchema = component('RiskMetrics', {
  total: Count,
  by_status: counts(riskStatuses),
  by_level: counts(levels),
  by_category: counts(riskCategories),
  overdue: Count,
  created_this_month: Type.Integer({ minimum: 0, description: 'Since the first of the month in UTC' }),
  initial_matrix: Matrix('initial'),
  residual_matrix: Matrix('residual'),
});

const Key = (values: readonly string[], byDefault: string) =>
  Type.String({ maxLength: 100, default: byDefault, description: `One of ${values.join(', ')}` });
const OptionalKey = (values: readonly string[]) =>
  Type.Optional(Nullable(Type.String({ maxLength: 100, description: `One of ${values.join(', ')}` })));
const ImportItem = object({
  row_index: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Returned with the result' }),
  title: Title,
  description: Type.String({ maxLength: 10_000, default: '' }),
  category: Key(riskCategories, 'operational'),
  initial_probability: Key(probabilities, 'medium'),
  initial_impact: Key(impacts, 'medium'),
  residual_probability: OptionalKey(probabilities),
  residual_impact: OptionalKey(impacts),
  status: Key(riskStatuses, 'identified'),
  owner_email: Type.Optional(Nullable(Type.String({ maxLength: 320 }))),
  owner_name: Type.Optional(
    Nullable(Type.String({ maxLength: 200, description: 'Used if no user has the address' })),
  ),
  target_resolution_date: Type.Optional(Nullable(DateOnly)),
  card_names: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 100,
      description: 'Names of active cards; an unknown or ambiguous name is a warning',
    }),
  ),
  reference: Type.Optional(
    Nullable(
      Type.String({ maxLength: 100, description: 'A row whose reference is in the register is skipped' }),
    ),
  ),
});
export const RiskImportBody = object({
  items: Type.Array(ImportItem, { minItems: 1, maxItems: 2000 }),
  dry_run: Type.Boolean({ default: false, description: 'Preview the import without writing' }),
});
export const RiskImportSchema = component('RiskImport', {
  results: Type.Array(
    object({
      row_index: Type.Integer(),
      status: Choice(['created', 'skipped', 'failed']),
      id: Nullable(
        Type.String({
          ...Uuid,
          description: 'Of a skipped row the existing risk; null in a dry run',
        }),
      ),
      reference: Nullable(Type.String()),
      error: Nullable(Type.String({ description: 'Why the row was skipped or failed' })),
      warnings: Type.Array(Type.String()),
    }),
  ),
  created: Count,
  skipped: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});
