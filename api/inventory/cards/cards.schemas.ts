import Type from 'typebox';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  FilledText,
  Flag,
  Nullable,
  NumberIn,
  OptionalFlag,
  object,
  optional,
  TextUpTo,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { attributesSchema, listResponse } from '../../schemas.ts';

const TagRef = object({
  id: Uuid,
  name: Type.String(),
  color: Nullable(Type.String()),
  group_name: Nullable(Type.String()),
});

const StakeholderRef = object({
  id: Uuid,
  user_id: Uuid,
  user_display_name: Nullable(Type.String()),
  user_email: Nullable(Type.String()),
  role: Type.String(),
});

const cardMembers = {
  ...Card.shown.columns,
  tags: Type.Array(TagRef),
  stakeholders: Type.Array(StakeholderRef),
};

export const CardSchema = component('Card', cardMembers);

const CardWarning = object({
  code: Type.Literal('likely_duplicate'),
  card_id: Uuid,
  name: Type.String(),
  confidence: NumberIn(0, 1, 'The probability that both represent the same object, by their names'),
});

/** The response of writes that can create or rename a card. */
export const WrittenCardSchema = component('WrittenCard', {
  ...cardMembers,
  warnings: Type.Optional(
    Type.Array(CardWarning, {
      description:
        'Of a created or renamed card: visible active cards of the type that are probably the same, the most probable first, at most five; absent if there are none, or if they could not be looked for in time',
    }),
  ),
});

const Path = Type.Array(object({ id: Uuid, name: Type.String() }), {
  description: 'The ancestors, the root first; only if `fields` names it',
});

export const CardListSchema = object({
  ...listResponse(component('Card', { ...cardMembers, path: Path })).properties,
  more_matches: OptionalFlag(
    'With `search`: whether more than 1,000 cards match; the list and `total` only include the 1,000 most relevant',
  ),
});

const Attributes = attributesSchema(
  'By field key of the card type, checked against the field: texts, numbers, booleans, dates as YYYY-MM-DD, option keys. Merged key by key; null clears.',
);

const Lifecycle = Type.Optional(
  Type.Unsafe<Record<string, string | null> | null>({
    type: ['object', 'null'],
    properties: Object.fromEntries(lifecyclePhases.map((phase) => [phase, { type: ['string', 'null'] }])),
    additionalProperties: false,
    description: 'Dates as YYYY-MM-DD, in the order of the phases. Merged phase by phase; null clears.',
  }),
);

export const Name = FilledText(500, 'One line; surrounding blanks are removed');

/** The members of a card that clients can set. */
export const cardValues = {
  subtype: Clearable(Type.String({ maxLength: 100 })),
  description: Clearable(Type.String({ maxLength: 100_000 })),
  parent_id: Clearable(
    Type.String({
      ...Uuid,
      description: 'An active card of the same type, if the type is hierarchical',
    }),
  ),
  lifecycle: Lifecycle,
  attributes: Attributes,
  external_id: Clearable(TextUpTo(500, 'Unique among the cards of a type, including archived ones')),
  alias: Clearable(Type.String({ maxLength: 500 })),
  ...optional({
    strict_attributes: Type.Boolean({ description: 'Accepted and ignored: attributes are always checked' }),
    status: Type.Unknown({ description: 'Refused with `use_operation`: archive and restore' }),
    approval_status: Type.Unknown({
      description: 'Refused with `use_operation`: POST /cards/{id}/approval-status',
    }),
  }),
};

export const CardPatchBody = object({ name: Type.Optional(Name), ...cardValues });

/** The effects of archiving and deleting on other cards. */
export const removal = optional({
  child_strategy: Nullable(
    Choice(
      ['cascade', 'disconnect', 'reparent'],
      'Required if the card has active children: `cascade` includes all descendants, `disconnect` removes the parent of the children, `reparent` makes the grandparent their parent',
    ),
  ),
  related_card_ids: Type.Array(Uuid, { maxItems: 200, description: 'Related cards that are removed too' }),
  cascade_all_related: Type.Boolean({ description: 'Whether all active related cards are removed too' }),
});

const MAX_MERGED = 50;
export const DryRun = Flag('Return the same response without writing');

export const CardMergeBody = object({
  survivor_id: Uuid,
  merged_ids: Type.Array(Uuid, {
    minItems: 1,
    maxItems: MAX_MERGED,
    description: 'Cards of the same type, active or archived, the most trusted first',
  }),
  fields: Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Union([Uuid, object({ value: Type.Unknown() })]),
      {
        description:
          'By field (`name`, `subtype`, `alias`, `description`, `external_id`, `parent_id`, `lifecycle`, `attributes.<key>`): the id of the card whose value is used, or `{"value": …}`. By default the survivor retains its values, and an empty field gets the value of the first other card that has one; name and parent do not change.',
      },
    ),
  ),
  dry_run: DryRun,
});

const Relation = { id: Uuid, type: Type.String() };

export const CardMergeResult = component('CardMergeResult', {
  merge_id: Nullable(Uuid),
  dry_run: Type.Boolean(),
  survivor: CardSchema,
  merged_card_ids: Type.Array(Uuid),
  moved: Type.Record(Type.String(), Count, {
    description: 'Number of objects moved to the survivor, by kind: `child`, `relation`, `tag`, `comment` …',
  }),
  folded_relations: Type.Array(object({ ...Relation, kept_id: Uuid }), {
    description:
      'Relations to a card to which the survivor already has one of the type; missing values were copied to it',
  }),
  dropped_relations: Type.Array(object(Relation), {
    description: 'Relations between the merged cards themselves',
  }),
  dropped_tags: Type.Array(object({ id: Uuid, name: Type.String(), group_name: Type.String() }), {
    description: 'Tags of single-choice groups of which the survivor has another tag',
  }),
});

export const CardRef = object({ id: Uuid, name: Type.String(), type: Type.String() });

export const CardHierarchySchema = component('CardHierarchy', {
  ancestors: Type.Array(CardRef, { description: 'All ancestors, the root first' }),
  children: Type.Array(CardRef),
  children_total: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1 }),
  level: Type.Integer({ minimum: 1, description: 'A root has level 1' }),
});

const Flags = Type.Record(Type.String(), Type.Boolean());

export const CardPermissionsSchema = component('CardPermissions', {
  app_level: Flags,
  stakeholder_roles: Type.Array(Type.String()),
  card_level: Flags,
  effective: Flags,
});
