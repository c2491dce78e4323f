import Type from 'typebox';
import { countFacets, createFacetCache } from '../../../domain/inventory/cards/cards.facets.ts';
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
  readCardByNumber,
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
  FilledText,
  itemComponent,
  Nullable,
  NullableText,
  OpenObject,
  OptionalText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import {
  CardHierarchySchema,
  CardListSchema,
  CardPermissionsSchema,
  CardRef,
  CardSchema,
} from './cards.schemas.ts';

const ApprovalStatus = Card.columns.approval_status;

const cardRef = CardRef.properties;
const subtypedRef = { ...cardRef, subtype: Nullable(Type.String()) };

const CardEventSchema = itemComponent('CardEvent', eventSchemas(historyMembers));

const CardFacetsSchema = component('CardFacets', {
  total: Type.Integer({ minimum: 0, description: 'The cards that match all conditions' }),
  facets: Type.Array(
    object({
      facet: Type.String(),
      values: Type.Array(
        object({
          value: Type.String(),
          count: Count,
          label: NullableText('The name of the tag, person or related card'),
          group: NullableText('The group of the tag, the type of the related card'),
        }),
        { description: 'The most frequent first, at most 200' },
      ),
      value_count: Nullable(
        Type.Integer({
          minimum: 0,
          description: 'All values; null for attributes whose values are not listed',
        }),
      ),
      without: Type.Integer({ minimum: 0, description: 'Cards without a value' }),
    }),
  ),
  numbers: Type.Optional(
    Type.Array(
      object({
        field: Type.String(),
        count: Type.Integer({ minimum: 0, description: 'Cards with a value' }),
        sum: Type.Number(),
        average: Nullable(Type.Number({ description: 'Rounded to two decimals' })),
      }),
      { description: 'Of the cards that match all conditions; only with the parameter `numbers`' },
    ),
  ),
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
  'number',
  'type',
  'subtype',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
  'phase',
  'description',
  'created_by',
  'updated_by',
  'path',
  'tags',
  'relations (their number)',
  'attributes.<key>',
  'relevance (with `search`)',
];
const text = (description: string, maxLength = 500) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));
const filters = {
  type: text('Card types, comma-separated', 2000),
  status: text('`ACTIVE` (default), `ARCHIVED`, both separated by a comma, or `all`'),
  approval_status: text('`DRAFT`, `APPROVED`, `REJECTED`, `BROKEN`, comma-separated'),
  parent_id: text('Only children of this card, or `root` for cards without a parent'),
  mine: Type.Optional(Type.Literal('stakeholder', { description: 'Cards on which the caller has a role' })),
  ids: text('Card ids, comma-separated', 8000),
  filter: OptionalText(4000, 'A condition in the filter language; blank selects everything'),
};
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
  const facets = createFacetCache();

  routes.get('listCards', '/api/v1/cards', {
    summary: 'List and search cards',
    description:
      'Active cards, unless `status` selects others. `fields` can also name `path`, the ancestors. `search` matches words in name, alias, external id and description by prefix and without accents, and the number of a card, such as `APP-42`; if few cards match, also misspelt words. It returns at most 1,000 cards by relevance, unless `sort_by` is given. Cards without a value of the attribute that they are sorted by come last; cards without a subtype come before all subtypes. `sort_by` can name up to 4 fields, separated by commas: the further ones sort cards that are equal in those before, descending with `-` before the name, such as `sort_by=subtype,-attributes.numberOfUsers`. Relevance cannot be one of several, and only one of path, tags and relations.',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      ...filters,
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
    summary: 'Count cards by type',
    description: 'Active cards, unless `status` selects others.',
    query: object(filters),
    responses: ok('Counts', CardCountsSchema),
    handler: ({ ctx, query, request }) => countCards(ctx, query, request.topics, counts),
  });

  routes.get('countCardFacets', '/api/v1/cards/facets', {
    summary: 'Count cards by the values of several facets',
    description:
      'For the filters of a list: how many cards have each value. For each facet, the cards are those that match all conditions of the request except those on the facet itself: the parameter of its name, and parts of `filter` that are joined by `and` and only name its field. Attributes other than options and booleans only have `without`.',
    permissionNote: 'relations.view for relations; stakeholders.view for people; costs.view for costs',
    query: object({
      ...filters,
      search: text('Words to search for; the 1,000 most relevant cards are counted', 200),
      facets: FilledText(
        4000,
        'Comma-separated: `type`, `subtype`, `status`, `approval_status`, `data_quality` (from 80, 50, 0), `lifecycle_phase` (today), `tags`, `stakeholder` (people with any role), `attributes.<key>`, `relations.<relation type>`; at most 30',
      ),
      numbers: OptionalText(
        4000,
        'Comma-separated number fields to add up: `data_quality`, `attributes.<key>`; at most 30',
      ),
    }),
    responses: ok('Counts by facet', CardFacetsSchema),
    handler: ({ ctx, query, request }) => countFacets(ctx, query, request.topics, facets),
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

  routes.get('readCardByNumber', '/api/v1/card-numbers/:number', {
    summary: 'Read one card by its number',
    description: 'The number of a card that was merged into another leads to the surviving card.',
    ...onCard,
    params: object({
      number: Type.String({
        maxLength: 40,
        description: 'In upper or lower case, with or without leading zeros',
        examples: ['APP-00042'],
      }),
    }),
    responses: ok('The card', CardSchema),
    handler: ({ ctx, params }) => readCardByNumber(ctx, params.number),
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
