import Type from 'typebox';
import {
  createCardListMemory,
  listCards,
  listMyCreatedCards,
  listStakeholderCards,
} from '../../../domain/inventory/cards/cards.list.ts';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import {
  countCards,
  createCountCache,
  historyMembers,
  listCardHistory,
  readArchiveImpact,
  readCard,
  readHierarchy,
  readMyPermissions,
  readRelationSummary,
  readRestoreImpact,
} from '../../../domain/inventory/cards/cards.read.ts';
import { eventSchemas } from '../../../domain/kernel/events/events.queries.ts';
import {
  Choice,
  Count,
  component,
  itemComponent,
  Nullable,
  OpenObject,
  OptionalText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { CardListSchema, CardSchema } from './cards.schemas.ts';

const ApprovalStatus = Card.columns.approval_status;

const cardRef = { id: Uuid, name: Type.String(), type: Type.String() };
const CardRef = object(cardRef);
const subtypedRef = { ...cardRef, subtype: Nullable(Type.String()) };

const CardHierarchySchema = component('CardHierarchy', {
  ancestors: Type.Array(CardRef, { description: 'All ancestors, the root first' }),
  children: Type.Array(CardRef),
  children_total: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1 }),
  level: Type.Integer({ minimum: 1, description: 'A root has level 1' }),
});

const CardEventSchema = itemComponent('CardEvent', eventSchemas(historyMembers));

const Flags = Type.Record(Type.String(), Type.Boolean());

const CardPermissionsSchema = component('CardPermissions', {
  app_level: Flags,
  stakeholder_roles: Type.Array(Type.String()),
  card_level: Flags,
  effective: Flags,
});

const CardCountsSchema = component('CardCounts', {
  by_type: Type.Array(object({ type: Type.String(), count: Count })),
  total: Count,
});

const Direction = Choice(['outgoing', 'incoming']);

const ArchiveImpactSchema = component('ArchiveImpact', {
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

const RestoreImpactSchema = component('RestoreImpact', {
  passengers: Type.Array(object({ ...subtypedRef, role: Choice(['child', 'related']) })),
});

const RelationSummarySchema = component('RelationSummary', {
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

const StakeholderCardsSchema = component('StakeholderCards', {
  ...CardListSchema.properties,
  roles_by_card_id: Type.Record(Type.String(), Type.Array(RoleRef), {
    description: 'The roles of the user on each item with an `id`',
  }),
});

const sorts = [
  'name',
  'type',
  'subtype',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
  'attributes.<key>',
  'relevance (with `search`)',
];
const text = (description: string, maxLength = 500) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));
const paged = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 }),
  page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
};
/** Without `inventory.view` a stakeholder role on the card may give the right to see it. */
const onCard = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** Read operations of cards: lists, search, one card and its related data. */
export function registerCardReadRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards', permission: 'inventory.view' });

  const memory = createCardListMemory();
  const counts = createCountCache();

  routes.get('listCards', '/api/v1/cards', {
    summary: 'List and search cards',
    description:
      'Active cards, unless `status` selects others. `search` matches words in name, alias, external id and description by prefix and without accents; if few cards match, also misspelt words. It returns at most 1,000 cards by relevance, unless `sort_by` is given. Cards without a value of the attribute that they are sorted by come last; cards without a subtype come before all subtypes.',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      type: text('Card types, comma-separated', 2000),
      status: text('`ACTIVE` (default), `ARCHIVED`, both separated by a comma, or `all`'),
      approval_status: text('`DRAFT`, `APPROVED`, `REJECTED`, `BROKEN`, comma-separated'),
      parent_id: text('Only children of this card, or `root` for cards without a parent'),
      mine: Type.Optional(
        Type.Literal('stakeholder', { description: 'Cards on which the caller has a role' }),
      ),
      ids: text('Card ids, comma-separated', 8000),
      filter: OptionalText(4000, 'A condition in the filter language; blank selects everything'),
    }),
    responses: ok('Cards', CardListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) => listCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('listMyCreatedCards', '/api/v1/cards/my-created', {
    summary: 'List the cards that I have created',
    query: listQuery(sorts, 'name, or relevance with `search`', {}),
    responses: ok('Cards, active and archived', CardListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) => listMyCreatedCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('listStakeholderCards', '/api/v1/cards/my-stakeholder', {
    summary: 'List the cards on which I, or the given user, have a role',
    permissionNote: 'stakeholders.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      user_id: Type.Optional(Type.String({ ...Uuid, description: 'Default: the caller' })),
    }),
    responses: ok('Cards with the roles of the user', StakeholderCardsSchema),
    handler: ({ ctx, query, request }) =>
      listStakeholderCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('countCards', '/api/v1/cards/counts', {
    summary: 'Count active cards by type',
    responses: ok('Counts', CardCountsSchema),
    handler: ({ ctx, request }) => countCards(ctx, request.topics, counts),
  });

  registerSingleCardRoutes(app);
}

/** One card. */
function registerSingleCardRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.get('readCard', '/api/v1/cards/:id', {
    summary: 'Read one card with tags and stakeholders',
    ...onCard,
    responses: ok('The card', CardSchema),
    handler: ({ ctx, params }) => readCard(ctx, params.id),
  });

  routes.get('readCardHierarchy', '/api/v1/cards/:id/hierarchy', {
    summary: 'Read the ancestors of a card, its level and a page of its children',
    ...onCard,
    query: object(paged),
    responses: ok('The position in the hierarchy', CardHierarchySchema),
    handler: ({ ctx, params, query }) => readHierarchy(ctx, params.id, query),
  });

  routes.get('listCardHistory', '/api/v1/cards/:id/history', {
    summary: 'List the events of a card and of its relations, newest first',
    description: 'The history of a deleted card requires `admin.events`.',
    ...onCard,
    query: listQuery(['position'], 'position', {}),
    responses: page('Events', CardEventSchema),
    errors: ['cursor_mismatch'],
    handler: ({ ctx, params, query }) => listCardHistory(ctx, params.id, query),
  });

  routes.get('readMyCardPermissions', '/api/v1/cards/:id/my-permissions', {
    summary: 'Read what I may do on a card',
    ...onCard,
    responses: ok('My rights on the card', CardPermissionsSchema),
    handler: ({ ctx, params }) => readMyPermissions(ctx, params.id),
  });

  routes.get('readCardRelationSummary', '/api/v1/cards/:id/relation-summary', {
    summary: 'Count the relations of a card by type and direction',
    permission: 'relations.view',
    permissionNote: 'inventory.view or card.view',
    responses: ok('Counts', RelationSummarySchema),
    handler: ({ ctx, params }) => readRelationSummary(ctx, params.id),
  });

  routes.get('readCardArchiveImpact', '/api/v1/cards/:id/archive-impact', {
    summary: 'Preview what archiving or deleting a card would affect',
    ...onCard,
    responses: ok('Children and related cards', ArchiveImpactSchema),
    handler: ({ ctx, params }) => readArchiveImpact(ctx, params.id),
  });

  routes.get('readCardRestoreImpact', '/api/v1/cards/:id/restore-impact', {
    summary: 'List the cards that were archived together with a card',
    ...onCard,
    responses: ok('Passengers', RestoreImpactSchema),
    handler: ({ ctx, params }) => readRestoreImpact(ctx, params.id),
  });
}
