import Type from 'typebox';
import { Document } from '../../../domain/collaboration/collaboration.model.ts';
import {
  addDocument,
  documentSorts,
  listDocuments,
  removeDocument,
} from '../../../domain/collaboration/documents/documents.ts';
import { Clearable, component, object } from '../../../domain/kernel/shapes.ts';
import { created, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const DocumentSchema = component('Document', Document.columns);

const DocumentBody = object({
  name: Document.columns.name,
  url: Clearable(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'With http, https or mailto',
      examples: ['https://wiki.example.com/claims'],
    }),
  ),
  type: Type.String({
    ...Document.columns.type,
    default: 'link',
    description: 'An enabled link type, or `link`',
  }),
});

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
    responses: page('Links', DocumentSchema),
    handler: ({ ctx, params, query }) => listDocuments(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/documents', {
    id: 'addDocument',
    summary: 'Add a link to a card',
    ...managing,
    body: DocumentBody,
    responses: created('The link', DocumentSchema),
    handler: async ({ ctx, params, body }) => (await addDocument(ctx, params.id, body)).text,
  });

  routes.delete('/api/v1/documents/:id', {
    id: 'removeDocument',
    summary: 'Remove a link',
    ...managing,
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeDocument(ctx, params.id),
  });
}
