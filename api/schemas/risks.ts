import Type from 'typebox';
import { MAX_CARDS } from '../../domain/governance/risks/risks.cards.ts';
import {
  cardRoles,
  impacts,
  levels,
  probabilities,
  riskCategories,
  riskSources,
  riskStatuses,
} from '../../domain/governance/risks/risks.types.ts';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { Timestamp } from './common.ts';

export const oneOf = (values: readonly string[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  );
const Probability = oneOf(probabilities);
const Impact = oneOf(impacts);
const Level = oneOf(levels);
const Category = oneOf(riskCategories);
const Status = oneOf(riskStatuses);
export const Title = Type.String({ minLength: 1, maxLength: 500 });
export const Text = Type.String({ maxLength: 10_000 });
const CardIds = (minItems: number) =>
  Type.Array(Uuid, { minItems, maxItems: MAX_CARDS, description: 'Repeated ones count once' });

const cardLink = Type.Object(
  {
    card_id: Uuid,
    card_name: Type.String(),
    card_type: Type.String(),
    role: oneOf(cardRoles, 'What the card has to do with the risk'),
  },
  closed,
);
const risk = {
  id: Uuid,
  reference: Type.String({ examples: ['R-000042'] }),
  title: Type.String(),
  description: Type.String(),
  category: Category,
  source_type: oneOf(riskSources, '`compliance`: made of a finding about a regulation'),
  source_ref: Nullable(Type.String({ description: 'Of a promoted finding the regulation’s key' })),
  initial_probability: Probability,
  initial_impact: Impact,
  initial_level: Level,
  residual_probability: Nullable(Probability),
  residual_impact: Nullable(Impact),
  residual_level: Nullable(Level),
  owner_id: Nullable(Uuid),
  owner_name: Nullable(Type.String()),
  target_resolution_date: Nullable(DateOnly),
  status: Status,
  acceptance_rationale: Nullable(Type.String()),
  accepted_by: Nullable(Uuid),
  accepted_at: Nullable(Timestamp),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
  cards: Type.Array(cardLink, { description: 'Those that the caller sees' }),
};
export const RiskSchema = Type.Object(risk, { $id: 'Risk', ...closed });
/** A risk in a list, cut to the members that were asked for. */
export const RiskItemSchema = Type.Partial(Type.Object(risk), { $id: 'RiskItem', ...closed });

export const riskSorts = [
  'updated_at',
  'created_at',
  'reference',
  'title',
  'level',
  'status',
  'category',
  'target_resolution_date',
  'owner_name',
];
const several = (values: readonly string[], description: string) =>
  Type.Optional(Type.Array(oneOf(values), { maxItems: 20, description: `${description}; may be repeated` }));
const plainFilters = {
  status: several(riskStatuses, 'Only those of this status'),
  category: several(riskCategories, 'Only those of this category'),
  level: several(
    levels,
    'Only those of this level: the residual one where it is known, else the initial one',
  ),
  owner_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those of this owner' })),
  source_type: several(riskSources, 'Only those from this source'),
  overdue: Type.Boolean({
    default: false,
    description:
      'Only those whose target date is past, unless they are `mitigated`, `accepted` or `closed`; by the database’s day',
  }),
};
export const cardRiskFilters = plainFilters;
export const riskFilters = {
  ...plainFilters,
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those linked to this card' })),
};

const estimate = {
  category: Type.Optional(Category),
  initial_probability: Type.Optional(Probability),
  initial_impact: Type.Optional(Impact),
};
const plan = {
  owner_id: Type.Optional(Nullable(Type.String({ ...Uuid, description: 'An active user' }))),
  target_resolution_date: Type.Optional(Nullable(DateOnly)),
};
export const RiskCreateBody = Type.Object(
  {
    title: Title,
    description: Type.Optional(Text),
    ...estimate,
    ...plan,
    card_ids: Type.Optional(CardIds(0)),
  },
  closed,
);
export const RiskPatchBody = Type.Object(
  {
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(Text)),
    ...estimate,
    residual_probability: Type.Optional(Nullable(Probability)),
    residual_impact: Type.Optional(Nullable(Impact)),
    ...plan,
    status: Type.Optional(
      oneOf(riskStatuses, 'Refused with `wrong_state` where it may not follow the present one'),
    ),
    acceptance_rationale: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 10_000,
          description: 'Must be there for `accepted`; goes when that is left',
        }),
      ),
    ),
  },
  closed,
);
export const CardLinkBody = Type.Object(
  {
    card_ids: CardIds(1),
    role: Type.Union(
      cardRoles.map((role) => Type.Literal(role)),
      { default: 'affected' },
    ),
  },
  closed,
);
const promotion = Type.Object(
  {
    title: Type.Optional(Nullable(Title)),
    description: Type.Optional(Nullable(Text)),
    category: Type.Optional(Nullable(Category)),
    initial_probability: Type.Optional(Nullable(Probability)),
    initial_impact: Type.Optional(Nullable(Impact)),
    ...plan,
  },
  closed,
);
/** May be left out. */
export const PromotionBody = Type.Unsafe<Record<string, unknown> | null | undefined>({
  ...promotion,
  type: ['object', 'null'],
});

const Count = Type.Integer({ minimum: 0 });
const counts = (values: readonly string[]) =>
  Type.Object(Object.fromEntries(values.map((value) => [value, Count])), closed);
const Matrix = (of: string) =>
  Type.Array(Type.Array(Count), {
    description: `Four rows of four: by ${of} probability (${probabilities.join(', ')}) and, in each row, impact (${impacts.join(', ')})`,
  });
export const RiskMetricsSchema = Type.Object(
  {
    total: Count,
    by_status: counts(riskStatuses),
    by_level: counts(levels),
    by_category: counts(riskCategories),
    overdue: Count,
    created_this_month: Type.Integer({ minimum: 0, description: 'Since the first of the month in UTC' }),
    initial_matrix: Matrix('initial'),
    residual_matrix: Matrix('residual'),
  },
  { $id: 'RiskMetrics', ...closed },
);

const Key = (values: readonly string[], byDefault: string) =>
  Type.String({ maxLength: 100, default: byDefault, description: `One of ${values.join(', ')}` });
const OptionalKey = (values: readonly string[]) =>
  Type.Optional(Nullable(Type.String({ maxLength: 100, description: `One of ${values.join(', ')}` })));
const ImportItem = Type.Object(
  {
    row_index: Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Named in the answer' }),
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
      Nullable(Type.String({ maxLength: 200, description: 'Counts where the address finds nobody' })),
    ),
    target_resolution_date: Type.Optional(Nullable(DateOnly)),
    card_names: Type.Optional(
      Type.Array(Type.String({ maxLength: 500 }), {
        maxItems: 100,
        description: 'Active cards; a name that is none’s, or several’s, is a warning',
      }),
    ),
    reference: Type.Optional(
      Nullable(
        Type.String({ maxLength: 100, description: 'A row whose reference the register has is skipped' }),
      ),
    ),
  },
  closed,
);
export const RiskImportBody = Type.Object(
  {
    items: Type.Array(ImportItem, { minItems: 1, maxItems: 2000 }),
    dry_run: Type.Boolean({ default: false, description: 'Tells what would be done, and writes nothing' }),
  },
  closed,
);
export const RiskImportSchema = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          row_index: Type.Integer(),
          status: oneOf(['created', 'skipped', 'failed']),
          id: Nullable(
            Type.String({
              ...Uuid,
              description: 'Of a skipped row the risk that is there; null in a dry run',
            }),
          ),
          reference: Nullable(Type.String()),
          error: Nullable(Type.String({ description: 'Why the row was skipped or failed' })),
          warnings: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    created: Count,
    skipped: Count,
    failed: Count,
    dry_run: Type.Boolean(),
  },
  { $id: 'RiskImport', ...closed },
);
