import Type from 'typebox';
import {
  createCardListMemory,
  listCards,
  listMyCreatedCards,
  listStakeholderCards,
} from '../../domain/inventory/cards/cards.list.ts';
import {
  countCards,
  createKeptCounts,
  listCardHistory,
  readArchiveImpact,
  readCard,
  readHierarchy,
  readMyPermissions,
  readRelationSummary,
  readRestoreImpact,
} from '../../domain/inventory/cards/cards.read.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/cards.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Cards';
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

/** Reading of cards: lists, search, one card and what belongs to it. */
export function registerCardReadRoutes(app: App): void {
  for (const schema of [
    schemas.CardSchema,
    schemas.CardItemSchema,
    schemas.CardHierarchySchema,
    schemas.CardEventSchema,
    schemas.CardPermissionsSchema,
    schemas.CardCountsSchema,
    schemas.ArchiveImpactSchema,
    schemas.RestoreImpactSchema,
    schemas.RelationSummarySchema,
    schemas.StakeholderCardsSchema,
  ]) {
    app.addSchema(schema);
  }
  const memory = createCardListMemory();
  const counts = createKeptCounts();

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards',
    id: 'listCards',
    tag,
    summary: 'List and search cards',
    description:
      'Active cards, unless `status` asks for others. `search` finds words of name, alias, external id and description, as beginnings and without accents, and where few cards match also misspelt words; it returns the 1,000 likeliest cards, the best first unless `sort_by` says otherwise. Cards without a value of the attribute that they are sorted by come last; no subtype sorts before all subtypes.',
    permission: 'inventory.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      type: text('Card types, comma-separated', 2000),
      status: text('`ACTIVE` (default), `ARCHIVED`, both separated by a comma, or `all`'),
      approval_status: text('`DRAFT`, `APPROVED`, `REJECTED`, `BROKEN`, comma-separated'),
      parent_id: text('A card whose children are meant, or `root` for cards without a parent'),
      mine: Type.Optional(
        Type.Literal('stakeholder', { description: 'Cards on which the caller holds a role' }),
      ),
      ids: text('Card ids, comma-separated', 8000),
      filter: text('A condition in the filter language', 4000),
    }),
    answers: {
      200: {
        description: 'Cards',
        schema: schemas.CardListSchema,
        example: { items: [schemas.cardExample], total: 1, page: 1, page_size: 50 },
      },
    },
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(reply, await listCards(ctx, query, { topics: request.topics, memory })),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/my-created',
    id: 'listMyCreatedCards',
    tag,
    summary: 'List the cards that I have created',
    permission: 'inventory.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {}),
    answers: { 200: { description: 'Cards, active and archived', schema: schemas.CardListSchema } },
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(reply, await listMyCreatedCards(ctx, query, { topics: request.topics, memory })),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/my-stakeholder',
    id: 'listStakeholderCards',
    tag,
    summary: 'List the cards on which I, or the named user, hold a role',
    permission: 'inventory.view',
    permissionNote: 'stakeholders.view',
    query: listQuery(sorts, 'name, or relevance with `search`', {
      user_id: Type.Optional(Type.String({ ...Uuid, description: 'The caller where it is left out' })),
    }),
    answers: { 200: { description: 'Cards with the roles held', schema: Type.Ref('StakeholderCards#') } },
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(reply, await listStakeholderCards(ctx, query, { topics: request.topics, memory })),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/counts',
    id: 'countCards',
    tag,
    summary: 'Count active cards by type',
    permission: 'inventory.view',
    answers: { 200: { description: 'Counts', schema: Type.Ref('CardCounts#') } },
    handler: async ({ ctx, request }) => await countCards(ctx, request.topics, counts),
  });

  registerSingleCardRoutes(app);
}

/** One card. */
function registerSingleCardRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id',
    id: 'readCard',
    tag,
    summary: 'Read one card with tags and stakeholders',
    ...onCard,
    params: IdParams,
    answers: {
      200: { description: 'The card', schema: Type.Ref('Card#'), example: schemas.cardExample },
    },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readCard(ctx, params.id)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/hierarchy',
    id: 'readCardHierarchy',
    tag,
    summary: 'Read the ancestors of a card, its level and a page of its children',
    ...onCard,
    params: IdParams,
    query: Type.Object(paged, closed),
    answers: { 200: { description: 'The place in the hierarchy', schema: Type.Ref('CardHierarchy#') } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await readHierarchy(ctx, params.id, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/history',
    id: 'listCardHistory',
    tag,
    summary: 'List the events of a card and of its relations, newest first',
    description: 'The history of a deleted card is kept for those who hold `admin.events`.',
    ...onCard,
    params: IdParams,
    query: listQuery(['position'], 'position', {}),
    answers: { 200: { description: 'Events', schema: listAnswer(Type.Ref('CardEvent#')) } },
    errors: ['cursor_mismatch'],
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listCardHistory(ctx, params.id, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/my-permissions',
    id: 'readMyCardPermissions',
    tag,
    summary: 'Read what I may do on a card',
    ...onCard,
    params: IdParams,
    answers: { 200: { description: 'My rights on the card', schema: Type.Ref('CardPermissions#') } },
    handler: async ({ ctx, params }) => await readMyPermissions(ctx, params.id),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/relation-summary',
    id: 'readCardRelationSummary',
    tag,
    summary: 'Count the relations of a card by type and direction',
    permission: 'relations.view',
    permissionNote: 'inventory.view or card.view',
    params: IdParams,
    answers: { 200: { description: 'Counts', schema: Type.Ref('RelationSummary#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRelationSummary(ctx, params.id)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/archive-impact',
    id: 'readCardArchiveImpact',
    tag,
    summary: 'Preview what archiving or deleting a card would affect',
    ...onCard,
    params: IdParams,
    answers: { 200: { description: 'Children and related cards', schema: Type.Ref('ArchiveImpact#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readArchiveImpact(ctx, params.id)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/restore-impact',
    id: 'readCardRestoreImpact',
    tag,
    summary: 'List the cards that were archived together with a card',
    ...onCard,
    params: IdParams,
    answers: { 200: { description: 'Passengers', schema: Type.Ref('RestoreImpact#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRestoreImpact(ctx, params.id)),
  });
}
