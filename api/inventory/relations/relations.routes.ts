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
import { createResultCache } from '../../../domain/kernel/lists/result.cache.ts';
import { sendResource } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/relations.ts';
import type { App } from '../../types.ts';

const MIB = 1024 * 1024;
const KEPT_TOTALS = 1000;
const relation = schemas.RelationSchema;
const reading = { permission: 'relations.view', permissionNote: 'inventory.view' } as const;
const writing = {
  permission: 'login',
  permissionNote: 'relations.manage or card.manage_relations on either card',
} as const;

/** Relations between cards. */
export function registerRelationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Relations' });

  const totals = createResultCache<number>(KEPT_TOTALS, () => 1);

  routes.get('/api/v1/relations', {
    id: 'listRelations',
    summary: 'List relations between active cards',
    description: '`search` searches the names of both cards.',
    ...reading,
    query: listQuery(relationSorts, 'created_at', relationFilters),
    answers: ok('Relations', schemas.RelationListSchema),
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: ({ ctx, query, request }) => listRelations(ctx, query, { topics: request.topics, totals }),
  });

  routes.post('/api/v1/relations', {
    id: 'createRelation',
    summary: 'Relate two cards',
    description:
      'The relation type determines the card types of both ends and the cardinality. A duplicate relation is refused.',
    ...writing,
    body: schemas.RelationCreateBody,

    answers: {
      201: {
        description: 'The relation',
        schema: relation,

        headers: ['Location', 'ETag'],
      },
    },
    errors: ['duplicate_relation', 'cardinality_exceeded'],
    handler: async ({ ctx, body, reply }) => {
      const { id, text } = await createRelation(ctx, body);
      return sendResource(reply.code(201).header('location', `/api/v1/relations/${id}`), text);
    },
  });

  routes.post('/api/v1/relations/bulk', {
    id: 'bulkRelations',
    summary: 'Create, change and delete many relations',
    description:
      'Rows are executed in order by the rules of single relations, in one transaction. A row that fails is reported with `error` and `code`; the other rows are executed.',
    ...writing,
    body: schemas.RelationBulkBody,

    bodyLimit: 16 * MIB,
    answers: ok('The result of each row', schemas.RelationBulkSchema),
    errors: ['duplicate_relation'],
    handler: ({ ctx, body }) => bulkRelations(ctx, body.operations, body.dry_run),
  });

  registerSingleRelationRoutes(app);
}

/** One relation. */
function registerSingleRelationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Relations' });

  routes.get('/api/v1/relations/:id', {
    id: 'readRelation',
    summary: 'Read one relation',
    ...reading,
    answers: ok('The relation', relation),
    handler: ({ ctx, params }) => readRelation(ctx, params.id),
  });

  routes.patch('/api/v1/relations/:id', {
    id: 'patchRelation',
    summary: 'Change the attributes or description of a relation',
    description: 'Attributes merge key by key; null clears. A patch without changes writes nothing.',
    ...writing,
    body: schemas.RelationPatchBody,

    answers: ok('The relation', relation, 'ETag'),
    errors: ['precondition_failed'],
    handler: ({ ctx, params, body }) => patchRelation(ctx, params.id, body),
  });

  routes.delete('/api/v1/relations/:id', {
    id: 'deleteRelation',
    summary: 'Delete a relation',
    ...writing,
    errors: ['precondition_failed'],
    handler: ({ ctx, params }) => deleteRelation(ctx, params.id),
  });
}
