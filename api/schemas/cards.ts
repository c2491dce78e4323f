import Type from 'typebox';
import { Card } from '../../domain/inventory/cards/cards.model.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { listAnswer } from './common.ts';

const { archive_batch_id: _internal, ...columns } = Card.columns;
const ApprovalStatus = columns.approval_status;

const TagRef = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    color: Nullable(Type.String()),
    group_name: Nullable(Type.String()),
  },
  closed,
);

const StakeholderRef = Type.Object(
  {
    id: Uuid,
    user_id: Uuid,
    user_display_name: Nullable(Type.String()),
    user_email: Nullable(Type.String()),
    role: Type.String(),
  },
  closed,
);

const cardMembers = {
  ...columns,
  tags: Type.Array(TagRef),
  stakeholders: Type.Array(StakeholderRef),
};

export const CardSchema = Type.Object(cardMembers, { $id: 'Card', ...closed });

/** A card as lists show it: cut to the requested `fields`. */
export const CardItemSchema = Type.Partial(Type.Object(cardMembers), { $id: 'CardItem', ...closed });

const cardRef = { id: Uuid, name: Type.String(), type: Type.String() };
const CardRef = Type.Object(cardRef, closed);
const subtypedRef = { ...cardRef, subtype: Nullable(Type.String()) };
const Count = Type.Integer({ minimum: 0 });

export const CardHierarchySchema = Type.Object(
  {
    ancestors: Type.Array(CardRef, { description: 'All of them, the root first' }),
    children: Type.Array(CardRef),
    children_total: Count,
    page: Type.Integer({ minimum: 1 }),
    page_size: Type.Integer({ minimum: 1 }),
    level: Type.Integer({ minimum: 1, description: 'A root has level 1' }),
  },
  { $id: 'CardHierarchy', ...closed },
);

export const CardEventSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    position: Type.String(),
    event_type: Type.String(),
    data: OpenObject,
    relation_id: Nullable(Uuid),
    batch_id: Nullable(Uuid),
    user_id: Nullable(Uuid),
    user_display_name: Nullable(Type.String()),
    origin: Nullable(Type.String()),
    request_id: Nullable(Type.String()),
    created_at: Timestamp,
  }),
  { $id: 'CardEvent', ...closed },
);

const Flags = Type.Record(Type.String(), Type.Boolean());

export const CardPermissionsSchema = Type.Object(
  {
    app_level: Flags,
    stakeholder_roles: Type.Array(Type.String()),
    card_level: Flags,
    effective: Flags,
  },
  { $id: 'CardPermissions', ...closed },
);

export const CardCountsSchema = Type.Object(
  { by_type: Type.Array(Type.Object({ type: Type.String(), count: Count }, closed)), total: Count },
  { $id: 'CardCounts', ...closed },
);

const Direction = Type.Union([Type.Literal('outgoing'), Type.Literal('incoming')]);

export const ArchiveImpactSchema = Type.Object(
  {
    child_count: Count,
    descendant_count: Count,
    approved_descendant_count: Count,
    related_count: Count,
    grandparent: Nullable(Type.Object(subtypedRef, closed)),
    children: Type.Array(
      Type.Object({ ...subtypedRef, descendants_count: Count, approval_status: ApprovalStatus }, closed),
      { description: 'By name, at most 200; `child_count` counts all' },
    ),
    related_cards: Type.Array(
      Type.Object(
        {
          ...subtypedRef,
          relation_id: Uuid,
          relation_type_key: Type.String(),
          relation_label: Type.String(),
          direction: Direction,
        },
        closed,
      ),
      { description: 'By name, at most 200; `related_count` counts all' },
    ),
  },
  { $id: 'ArchiveImpact', ...closed },
);

export const RestoreImpactSchema = Type.Object(
  {
    passengers: Type.Array(
      Type.Object(
        { ...subtypedRef, role: Type.Union([Type.Literal('child'), Type.Literal('related')]) },
        closed,
      ),
    ),
  },
  { $id: 'RestoreImpact', ...closed },
);

export const RelationSummarySchema = Type.Object(
  {
    by_type: Type.Array(
      Type.Object(
        {
          relation_type_key: Type.String(),
          label: Type.String(),
          direction: Direction,
          peer_type_key: Nullable(Type.String()),
          count: Count,
        },
        closed,
      ),
    ),
    hierarchy: Type.Object(
      {
        children_count: Count,
        parent_id: Nullable(Uuid),
        parent_name: Nullable(Type.String()),
        parent_type: Nullable(Type.String()),
      },
      closed,
    ),
  },
  { $id: 'RelationSummary', ...closed },
);

const RoleRef = Type.Object(
  { key: Type.String(), label: Type.String(), color: Type.String(), translations: OpenObject },
  closed,
);

export const CardListSchema = Type.Object(
  {
    ...listAnswer(CardItemSchema).properties,
    more_matches: Type.Optional(
      Type.Boolean({
        description:
          'With `search`: whether more cards match than the 1,000 likeliest, which the list holds and `total` counts',
      }),
    ),
  },
  closed,
);

export const StakeholderCardsSchema = Type.Object(
  {
    ...CardListSchema.properties,
    roles_by_card_id: Type.Record(Type.String(), Type.Array(RoleRef), {
      description: 'The roles held on each of the items that show their `id`',
    }),
  },
  { $id: 'StakeholderCards', ...closed },
);

/** An example of a card. */
export const cardExample = {
  id: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11',
  type: 'Application',
  subtype: 'businessApplication',
  name: 'Claims Desk',
  description: 'Registers and settles claims.',
  parent_id: null,
  lifecycle: { active: '2021-04-01', endOfLife: '2031-12-31' },
  attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 480000 },
  status: 'ACTIVE',
  approval_status: 'DRAFT',
  data_quality: 54.5,
  external_id: 'APP-0042',
  alias: 'CD',
  archived_at: null,
  created_by: null,
  updated_by: null,
  created_at: '2026-02-03T09:15:00.000Z',
  updated_at: '2026-02-03T09:15:00.000Z',
  tags: [],
  stakeholders: [],
};
