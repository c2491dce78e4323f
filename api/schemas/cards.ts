import Type from 'typebox';
import { Card } from '../../domain/inventory/cards/cards.model.ts';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { listAnswer } from './common.ts';

const { archive_batch_id: _internal, ...columns } = Card.columns;
const ApprovalStatus = columns.approval_status;

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
  ...columns,
  tags: Type.Array(TagRef),
  stakeholders: Type.Array(StakeholderRef),
};

export const CardSchema = component('Card', cardMembers);

/** A card in a list, with the requested `fields`. */
const CardItemSchema = itemComponent('CardItem', cardMembers);

const cardRef = { id: Uuid, name: Type.String(), type: Type.String() };
const CardRef = object(cardRef);
const subtypedRef = { ...cardRef, subtype: Nullable(Type.String()) };
const Count = Type.Integer({ minimum: 0 });

export const CardHierarchySchema = component('CardHierarchy', {
  ancestors: Type.Array(CardRef, { description: 'All ancestors, the root first' }),
  children: Type.Array(CardRef),
  children_total: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1 }),
  level: Type.Integer({ minimum: 1, description: 'A root has level 1' }),
});

export const CardEventSchema = itemComponent('CardEvent', {
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
});

const Flags = Type.Record(Type.String(), Type.Boolean());

export const CardPermissionsSchema = component('CardPermissions', {
  app_level: Flags,
  stakeholder_roles: Type.Array(Type.String()),
  card_level: Flags,
  effective: Flags,
});

export const CardCountsSchema = component('CardCounts', {
  by_type: Type.Array(object({ type: Type.String(), count: Count })),
  total: Count,
});

const Direction = Type.Union([Type.Literal('outgoing'), Type.Literal('incoming')]);

export const ArchiveImpactSchema = component('ArchiveImpact', {
  child_count: Count,
  descendant_count: Count,
  approved_descendant_count: Count,
  related_count: Count,
  grandparent: Nullable(object(subtypedRef)),
  children: Type.Array(
    object({ ...subtypedRef, descendants_count: Count, approval_status: ApprovalStatus }),
    { description: 'By name, at most 200; `child_count` counts all' },
  ),
  related_cards: Type.Array(
    object({
      ...subtypedRef,
      relation_id: Uuid,
      relation_type_key: Type.String(),
      relation_label: Type.String(),
      direction: Direction,
    }),
    { description: 'By name, at most 200; `related_count` counts all' },
  ),
});

export const RestoreImpactSchema = component('RestoreImpact', {
  passengers: Type.Array(
    object({ ...subtypedRef, role: Type.Union([Type.Literal('child'), Type.Literal('related')]) }),
  ),
});

export const RelationSummarySchema = component('RelationSummary', {
  by_type: Type.Array(
    object({
      relation_type_key: Type.String(),
      label: Type.String(),
      direction: Direction,
      peer_type_key: Nullable(Type.String()),
      count: Count,
    }),
  ),
  hierarchy: object({
    children_count: Count,
    parent_id: Nullable(Uuid),
    parent_name: Nullable(Type.String()),
    parent_type: Nullable(Type.String()),
  }),
});

const RoleRef = object({
  key: Type.String(),
  label: Type.String(),
  color: Type.String(),
  translations: OpenObject,
});

export const CardListSchema = object({
  ...listAnswer(CardItemSchema).properties,
  more_matches: Type.Optional(
    Type.Boolean({
      description:
        'With `search`: whether more than 1,000 cards match; the list and `total` only include the 1,000 most relevant',
    }),
  ),
});

export const StakeholderCardsSchema = component('StakeholderCards', {
  ...CardListSchema.properties,
  roles_by_card_id: Type.Record(Type.String(), Type.Array(RoleRef), {
    description: 'The roles of the user on each item with an `id`',
  }),
});
