import Type from 'typebox';
import {
  addDocument,
  documentSorts,
  listDocuments,
  removeDocument,
} from '../../domain/collaboration/documents/documents.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import examples from '../schemas/collaboration.examples.json' with { type: 'json' };
import * as schemas from '../schemas/collaboration.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Links and files';
const managing = {
  permission: 'login',
  permissionNote: 'documents.manage or card.manage_documents',
} as const;

/** Links of cards. */
export function registerDocumentRoutes(app: App): void {
  app.addSchema(schemas.DocumentSchema);
  app.addSchema(schemas.DocumentItemSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/documents',
    id: 'listDocuments',
    tag,
    summary: 'List the links of a card',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    params: IdParams,
    query: listQuery(documentSorts, 'created_at', {}),
    answers: { 200: { description: 'Links', schema: listAnswer(Type.Ref('DocumentItem#')) } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listDocuments(ctx, params.id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/documents',
    id: 'addDocument',
    tag,
    summary: 'Add a link to a card',
    ...managing,
    params: IdParams,
    body: schemas.DocumentBody,
    bodyExample: { name: 'Operating manual', url: 'https://wiki.example.com/claims', type: 'documentation' },
    answers: {
      201: {
        description: 'The link',
        schema: Type.Ref('Document#'),
        example: examples.document,
        headers: ['ETag'],
      },
    },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), (await addDocument(ctx, params.id, body)).text),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/documents/:id',
    id: 'removeDocument',
    tag,
    summary: 'Remove a link',
    ...managing,
    params: IdParams,
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await removeDocument(ctx, params.id);
      return reply.code(204).send();
    },
  });
}
