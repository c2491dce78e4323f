import Type from 'typebox';
import {
  createCardListMemory,
  listCards,
  listMyCreatedCards,
  listStakeholderCards,
} from '../../../domain/inventory/cards/cards.list.ts';
import {
  countCards,
  createCountCache,
  listCardHistory,
  readArchiveImpact,
  readCard,
  readHierarchy,
  readMyPermissions,
  readRelationSummary,
  readRestoreImpact,
} from '../../../domain/inventory/cards/cards.read.ts';
import { object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/cards.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

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
  const routes = routesOf(app, { tag: 'Cards' });

  const memory = createCardListMemory();
  const counts = createCountCache();

  routes.get('/api/v1/cards', {
    id: 'listCards',
    summary: 'List and search cards',
    description:
      'Active cards, unless `status` selects others. `search` matches words in name, alias, external id and description by prefix and without accents; if few cards match, also misspelt words. It returns at most 1,000 cards by relevance, unless `sort_by` is given. Cards without a value of the attribute that they are sorted by come last; cards without a subtype come before all subtypes.',
    permission: 'inventory.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      type: text('Card types, comma-separated', 2000),
      status: text('`ACTIVE` (default), `ARCHIVED`, both separated by a comma, or `all`'),
      approval_status: text('`DRAFT`, `APPROVED`, `REJECTED`, `BROKEN`, comma-separated'),
      parent_id: text('Only children of this card, or `root` for cards without a parent'),
      mine: Type.Optional(
        Type.Literal('stakeholder', { description: 'Cards on which the caller has a role' }),
      ),
      ids: text('Card ids, comma-separated', 8000),
      filter: text('A condition in the filter language', 4000),
    }),
    answers: ok('Cards', schemas.CardListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) => listCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('/api/v1/cards/my-created', {
    id: 'listMyCreatedCards',
    summary: 'List the cards that I have created',
    permission: 'inventory.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {}),
    answers: ok('Cards, active and archived', schemas.CardListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) => listMyCreatedCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('/api/v1/cards/my-stakeholder', {
    id: 'listStakeholderCards',
    summary: 'List the cards on which I, or the given user, have a role',
    permission: 'inventory.view',
    permissionNote: 'stakeholders.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      user_id: Type.Optional(Type.String({ ...Uuid, description: 'Default: the caller' })),
    }),
    answers: ok('Cards with the roles of the user', schemas.StakeholderCardsSchema),
    handler: ({ ctx, query, request }) =>
      listStakeholderCards(ctx, query, { topics: request.topics, memory }),
  });

  routes.get('/api/v1/cards/counts', {
    id: 'countCards',
    summary: 'Count active cards by type',
    permission: 'inventory.view',
    answers: ok('Counts', schemas.CardCountsSchema),
    handler: ({ ctx, request }) => countCards(ctx, request.topics, counts),
  });

  registerSingleCardRoutes(app);
}

/** One card. */
function registerSingleCardRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.get('/api/v1/cards/:id', {
    id: 'readCard',
    summary: 'Read one card with tags and stakeholders',
    ...onCard,
    answers: ok('The card', schemas.CardSchema),
    handler: ({ ctx, params }) => readCard(ctx, params.id),
  });

  routes.get('/api/v1/cards/:id/hierarchy', {
    id: 'readCardHierarchy',
    summary: 'Read the ancestors of a card, its level and a page of its children',
    ...onCard,
    query: object(paged),
    answers: ok('The position in the hierarchy', schemas.CardHierarchySchema),
    handler: ({ ctx, params, query }) => readHierarchy(ctx, params.id, query),
  });

  routes.get('/api/v1/cards/:id/history', {
    id: 'listCardHistory',
    summary: 'List the events of a card and of its relations, newest first',
    description: 'The history of a deleted card requires `admin.events`.',
    ...onCard,
    query: listQuery(['position'], 'position', {}),
    answers: page('Events', schemas.CardEventSchema),
    errors: ['cursor_mismatch'],
    handler: ({ ctx, params, query }) => listCardHistory(ctx, params.id, query),
  });

  routes.get('/api/v1/cards/:id/my-permissions', {
    id: 'readMyCardPermissions',
    summary: 'Read what I may do on a card',
    ...onCard,
    answers: ok('My rights on the card', schemas.CardPermissionsSchema),
    handler: ({ ctx, params }) => readMyPermissions(ctx, params.id),
  });

  routes.get('/api/v1/cards/:id/relation-summary', {
    id: 'readCardRelationSummary',
    summary: 'Count the relations of a card by type and direction',
    permission: 'relations.view',
    permissionNote: 'inventory.view or card.view',
    answers: ok('Counts', schemas.RelationSummarySchema),
    handler: ({ ctx, params }) => readRelationSummary(ctx, params.id),
  });

  routes.get('/api/v1/cards/:id/archive-impact', {
    id: 'readCardArchiveImpact',
    summary: 'Preview what archiving or deleting a card would affect',
    ...onCard,
    answers: ok('Children and related cards', schemas.ArchiveImpactSchema),
    handler: ({ ctx, params }) => readArchiveImpact(ctx, params.id),
  });

  routes.get('/api/v1/cards/:id/restore-impact', {
    id: 'readCardRestoreImpact',
    summary: 'List the cards that were archived together with a card',
    ...onCard,
    answers: ok('Passengers', schemas.RestoreImpactSchema),
    handler: ({ ctx, params }) => readRestoreImpact(ctx, params.id),
  });
}
