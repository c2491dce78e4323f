import Type from 'typebox';
import { bulkRelations } from '../../domain/inventory/relations/relations.bulk.ts';
import {
  createRelation,
  deleteRelation,
  patchRelation,
} from '../../domain/inventory/relations/relations.commands.ts';
import {
  listRelations,
  readRelation,
  relationFilters,
  relationSorts,
} from '../../domain/inventory/relations/relations.list.ts';
import { createResultCache } from '../../domain/kernel/lists/result.cache.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { IdParams, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/relations.ts';
import type { App } from '../types.ts';

const MIB = 1024 * 1024;
const KEPT_TOTALS = 1000;
const tag = 'Relations';
const relation = Type.Ref('Relation#');
const reading = { permission: 'relations.view', permissionNote: 'inventory.view' } as const;
const writing = {
  permission: 'login',
  permissionNote: 'relations.manage or card.manage_relations on either card',
} as const;

/** Relations between cards. */
export function registerRelationRoutes(app: App): void {
  for (const schema of [schemas.RelationSchema, schemas.RelationItemSchema, schemas.RelationBulkSchema]) {
    app.addSchema(schema);
  }
  const totals = createResultCache<number>(KEPT_TOTALS, () => 1);

  operation(app, {
    method: 'GET',
    url: '/api/v1/relations',
    id: 'listRelations',
    tag,
    summary: 'List relations between active cards',
    description: '`search` looks into the names of both cards.',
    ...reading,
    query: listQuery(relationSorts, 'created_at', relationFilters),
    answers: {
      200: {
        description: 'Relations',
        schema: schemas.RelationListSchema,
        example: { items: [schemas.relationExample], total: 1, page: 1, page_size: 50 },
      },
    },
    errors: ['cursor_expired', 'cursor_mismatch'],
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(reply, await listRelations(ctx, query, { topics: request.topics, totals })),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/relations',
    id: 'createRelation',
    tag,
    summary: 'Relate two cards',
    description: 'The type says which cards it joins and how many: a second of a kind is refused.',
    ...writing,
    body: schemas.RelationCreateBody,
    bodyExample: {
      type: 'relAppToBC',
      source_id: schemas.relationExample.source_id,
      target_id: schemas.relationExample.target_id,
      attributes: { supportType: 'leading' },
    },
    answers: {
      201: {
        description: 'The relation',
        schema: relation,
        example: schemas.relationExample,
        headers: ['Location', 'ETag'],
      },
    },
    errors: ['duplicate_relation', 'cardinality_exceeded'],
    handler: async ({ ctx, body, reply }) => {
      const { id, text } = await createRelation(ctx, body);
      return sendResource(reply.code(201).header('location', `/api/v1/relations/${id}`), text);
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/relations/bulk',
    id: 'bulkRelations',
    tag,
    summary: 'Create, change and delete many relations',
    description:
      'Rows are executed one after the other by the rules of single relations, in one transaction. A row that fails is reported with `error` and `code` and stops no other.',
    ...writing,
    body: schemas.RelationBulkBody,
    bodyExample: {
      operations: [
        {
          row_index: 1,
          action: 'upsert',
          type: 'relAppToBC',
          source: { type: 'Application', external_id: 'APP-0042' },
          target: { type: 'BusinessCapability', parent_path: ['Insurance'], name: 'Claims Handling' },
          attributes: { supportType: 'leading' },
        },
      ],
      dry_run: false,
    },
    bodyLimit: 16 * MIB,
    answers: {
      200: {
        description: 'The result of each row',
        schema: Type.Ref('RelationBulkAnswer#'),
        example: {
          results: [
            {
              row_index: 1,
              status: 'upserted',
              relation_id: schemas.relationExample.id,
              error: null,
              code: null,
            },
          ],
          upserted: 1,
          deleted: 0,
          failed: 0,
          dry_run: false,
        },
      },
    },
    errors: ['duplicate_relation'],
    handler: async ({ ctx, body }) => await bulkRelations(ctx, body.operations, body.dry_run),
  });

  registerSingleRelationRoutes(app);
}

/** One relation. */
function registerSingleRelationRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/relations/:id',
    id: 'readRelation',
    tag,
    summary: 'Read one relation',
    ...reading,
    params: IdParams,
    answers: { 200: { description: 'The relation', schema: relation, example: schemas.relationExample } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRelation(ctx, params.id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/relations/:id',
    id: 'patchRelation',
    tag,
    summary: 'Change the attributes or description of a relation',
    description: 'Attributes merge key by key; null clears. A patch that changes nothing writes nothing.',
    ...writing,
    params: IdParams,
    body: schemas.RelationPatchBody,
    bodyExample: { attributes: { supportType: 'supporting' }, description: null },
    answers: {
      200: {
        description: 'The relation',
        schema: relation,
        example: schemas.relationExample,
        headers: ['ETag'],
      },
    },
    errors: ['precondition_failed'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchRelation(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/relations/:id',
    id: 'deleteRelation',
    tag,
    summary: 'Delete a relation',
    ...writing,
    params: IdParams,
    answers: { 204: { description: 'Deleted' } },
    errors: ['precondition_failed'],
    handler: async ({ ctx, params, reply }) => {
      await deleteRelation(ctx, params.id);
      return reply.code(204).send();
    },
  });
}
