import {
  addDocument,
  documentSorts,
  listDocuments,
  removeDocument,
} from '../../../domain/collaboration/documents/documents.ts';
import { created, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/collaboration.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const managing = {
  permission: 'login',
  permissionNote: 'documents.manage or card.manage_documents',
} as const;

/** Links of cards. */
export function registerDocumentRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Links and files' });

  routes.get('/api/v1/cards/:id/documents', {
    id: 'listDocuments',
    summary: 'List the links of a card',
    permission: 'documents.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(documentSorts, 'created_at', {}),
    answers: page('Links', schemas.DocumentItemSchema),
    handler: ({ ctx, params, query }) => listDocuments(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/documents', {
    id: 'addDocument',
    summary: 'Add a link to a card',
    ...managing,
    body: schemas.DocumentBody,

    answers: created('The link', schemas.DocumentSchema),
    handler: async ({ ctx, params, body }) => (await addDocument(ctx, params.id, body)).text,
  });

  routes.delete('/api/v1/documents/:id', {
    id: 'removeDocument',
    summary: 'Remove a link',
    ...managing,
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeDocument(ctx, params.id),
  });
}
