import {
  createGroup,
  deleteGroup,
  favoriteSorts,
  groupSorts,
  listDiagramFavorites,
  listGroups,
  patchGroup,
  starDiagram,
  unstarDiagram,
} from '../../domain/modelling/diagrams/groups.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/diagrams.ts';
import type { App } from '../types.ts';

const tag = 'Diagrams';
const group = schemas.DiagramGroupSchema;

/** Favourite diagrams, and groups of diagrams. */
export function registerDiagramGroupRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/diagrams/favorites',
    id: 'listDiagramFavorites',
    tag,
    summary: 'List your favourite diagrams',
    permission: 'diagrams.view',
    query: listQuery(favoriteSorts, 'created_at', {}),
    answers: {
      200: { description: 'Ids of diagrams', schema: listAnswer(schemas.DiagramFavoriteSchema) },
    },
    handler: ({ ctx, query }) => listDiagramFavorites(ctx, query),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/diagrams/:diagram_id/favorite',
    id: 'starDiagram',
    tag,
    summary: 'Make a diagram a favourite',
    description: 'Has no effect if it is one already.',
    permission: 'diagrams.view',
    answers: {
      201: { description: 'The favourite', schema: schemas.DiagramFavoriteSchema, headers: ['ETag'] },
    },
    handler: ({ ctx, params }) => starDiagram(ctx, params.diagram_id),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagrams/:diagram_id/favorite',
    id: 'unstarDiagram',
    tag,
    summary: 'Remove a diagram from your favourites',
    permission: 'diagrams.view',
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unstarDiagram(ctx, params.diagram_id),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/diagram-groups',
    id: 'listDiagramGroups',
    tag,
    summary: 'List groups of diagrams',
    permission: 'diagrams.view',
    query: listQuery(groupSorts, 'sort_order', {}),
    answers: { 200: { description: 'Groups', schema: listAnswer(schemas.DiagramGroupItemSchema) } },
    handler: ({ ctx, query }) => listGroups(ctx, query),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/diagram-groups',
    id: 'createDiagramGroup',
    tag,
    summary: 'Create a group of diagrams',
    permission: 'diagrams.manage',
    body: schemas.GroupCreateBody,
    bodyExample: { name: 'Target architecture', color: '#1976d2' },
    answers: { 201: { description: 'The group', schema: group, headers: ['ETag'] } },
    errors: ['name_taken'],
    handler: ({ ctx, body }) => createGroup(ctx, body),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/diagram-groups/:group_id',
    id: 'patchDiagramGroup',
    tag,
    summary: 'Change a group of diagrams',
    permission: 'diagrams.manage',
    body: schemas.GroupPatchBody,
    bodyExample: { sort_order: 10 },
    headers: ['If-Match'],
    answers: { 200: { description: 'The group', schema: group } },
    errors: ['name_taken'],
    handler: ({ ctx, params, body }) => patchGroup(ctx, params.group_id, body),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagram-groups/:group_id',
    id: 'deleteDiagramGroup',
    tag,
    summary: 'Delete a group; its diagrams stay',
    permission: 'diagrams.manage',
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: ({ ctx, params }) => deleteGroup(ctx, params.group_id),
  });
}
