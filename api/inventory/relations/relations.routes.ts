import Type from 'typebox';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import { bulkRelations } from '../../../domain/inventory/relations/relations.bulk.ts';
import {
  createRelation,
  deleteRelation,
  patchRelation,
} from '../../../domain/inventory/relations/relations.commands.ts';
import {
  listRelations,
  readRelation,
  relationFilters,
  relationSorts,
} from '../../../domain/inventory/relations/relations.list.ts';
import { Relation } from '../../../domain/inventory/relations/relations.model.ts';
import { createAnchors } from '../../../domain/kernel/lists/lists.anchors.ts';
import { createResultCache } from '../../../domain/kernel/lists/result.cache.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  Flag,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendResource } from '../../json.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { attributesSchema, filterSchemas, listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { CardRef, Reference } from './relations.schemas.ts';

const RelationSchema = component('Relation', { ...Relation.shown.columns, source: CardRef, target: CardRef });
const { subtype, lifecycle, approval_status } = Card.columns;
const RelatedCard = object({ ...CardRef.properties, subtype, lifecycle, approval_status });
const RelationListSchema = listResponse(
  component('Relation', { ...Relation.shown.columns, source: RelatedCard, target: RelatedCard }),
);

const TypeKey = Type.String({ minLength: 1, maxLength: 100 });
const Attributes = attributesSchema('By attribute key of the relation type. Merged key by key; null clears.');
const Description = Clearable(Type.String({ maxLength: 10_000 }));

const RelationCreateBody = object({
  type: TypeKey,
  source_id: Uuid,
  target_id: Uuid,
  attributes: Attributes,
  description: Description,
});

const RelationPatchBody = object({ attributes: Attributes, description: Description });

const RelationBulkBody = object({
  operations: Type.Array(
    object({
      row_index: Type.Integer({ description: "A number of the caller's choice, returned with the result" }),
      action: Choice(['upsert', 'delete'], { default: 'upsert' }),
      type: TypeKey,
      source: Reference,
      target: Reference,
      attributes: Attributes,
      description: Description,
    }),
    { minItems: 1, maxItems: 5000 },
  ),
  dry_run: Flag('Return the same response without writing'),
});

const RelationBulkSchema = component('RelationBulkResponse', {
  results: Type.Array(
    object({
      row_index: Type.Integer(),
      status: Choice(['upserted', 'deleted', 'noop', 'failed']),
      relation_id: Nullable(Uuid),
      error: Nullable(Type.String()),
      code: Nullable(Type.String()),
    }),
  ),
  upserted: Count,
  deleted: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});

const MIB = 1024 * 1024;
const TOTALS_BYTES = 4 * 1024 * 1024;
const reading = { permission: 'relations.view', permissionNote: 'inventory.view' } as const;
const writing = {
  permission: 'login',
  permissionNote: 'relations.manage or card.manage_relations on either card',
} as const;

/** Relations between cards. */
export function registerRelationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Relations' });

  const totals = createResultCache<number>(TOTALS_BYTES, () => 8);
  const anchors = createAnchors();

  routes.get('listRelations', '/api/v1/relations', {
    summary: 'List relations between active cards',
    description: '`search` searches the names of both cards.',
    ...reading,
    query: listQuery(relationSorts, 'created_at', filterSchemas({ filters: relationFilters })),
    responses: ok('Relations', RelationListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) =>
      listRelations(ctx, query, { topics: request.topics, totals, anchors }),
  });

  routes.post('createRelation', '/api/v1/relations', {
    summary: 'Relate two cards',
    description:
      'The relation type determines the card types of both ends and the cardinality. A duplicate relation is refused.',
    ...writing,
    body: RelationCreateBody,
    responses: created('The relation', RelationSchema, 'Location'),
    errors: ['duplicate_relation', 'cardinality_exceeded'],
    handler: async ({ ctx, body, reply }) => {
      const { id, text } = await createRelation(ctx, body);
      return sendResource(reply.code(201).header('location', `/api/v1/relations/${id}`), text);
    },
  });

  routes.post('bulkRelations', '/api/v1/relations/bulk', {
    summary: 'Create, change and delete many relations',
    description:
      'Rows are executed in order by the rules of single relations, in one transaction. A row that fails is reported with `error` and `code`; the other rows are executed.',
    ...writing,
    body: RelationBulkBody,
    bodyLimit: 16 * MIB,
    responses: ok('The result of each row', RelationBulkSchema),
    errors: ['duplicate_relation'],
    handler: ({ ctx, body }) => bulkRelations(ctx, body.operations, body.dry_run),
  });

  registerSingleRelationRoutes(app);
}

/** One relation. */
function registerSingleRelationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Relations' });

  routes.get('readRelation', '/api/v1/relations/:id', {
    summary: 'Read one relation',
    ...reading,
    responses: ok('The relation', RelationSchema),
    handler: ({ ctx, params }) => readRelation(ctx, params.id),
  });

  routes.patch('patchRelation', '/api/v1/relations/:id', {
    summary: 'Change the attributes or description of a relation',
    description: 'Attributes merge key by key; null clears. A patch without changes writes nothing.',
    ...writing,
    body: RelationPatchBody,
    responses: ok('The relation', RelationSchema, 'ETag'),
    errors: ['costs_by_period'],
    handler: ({ ctx, params, body }) => patchRelation(ctx, params.id, body),
  });

  routes.delete('deleteRelation', '/api/v1/relations/:id', {
    summary: 'Delete a relation',
    ...writing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteRelation(ctx, params.id),
  });
}
