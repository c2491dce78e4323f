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
} from '../../../domain/modelling/diagrams/groups.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/diagrams.ts';
import type { App } from '../../types.ts';

const group = schemas.DiagramGroupSchema;

/** Favourite diagrams, and groups of diagrams. */
export function registerDiagramGroupRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.get('/api/v1/diagrams/favorites', {
    id: 'listDiagramFavorites',
    summary: 'List your favourite diagrams',
    permission: 'diagrams.view',
    query: listQuery(favoriteSorts, 'created_at', {}),
    answers: page('Ids of diagrams', schemas.DiagramFavoriteSchema),
    handler: ({ ctx, query }) => listDiagramFavorites(ctx, query),
  });

  routes.post('/api/v1/diagrams/:diagram_id/favorite', {
    id: 'starDiagram',
    summary: 'Make a diagram a favourite',
    description: 'Has no effect if it is one already.',
    permission: 'diagrams.view',
    answers: created('The favourite', schemas.DiagramFavoriteSchema),
    handler: ({ ctx, params }) => starDiagram(ctx, params.diagram_id),
  });

  routes.delete('/api/v1/diagrams/:diagram_id/favorite', {
    id: 'unstarDiagram',
    summary: 'Remove a diagram from your favourites',
    permission: 'diagrams.view',
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unstarDiagram(ctx, params.diagram_id),
  });

  routes.get('/api/v1/diagram-groups', {
    id: 'listDiagramGroups',
    summary: 'List groups of diagrams',
    permission: 'diagrams.view',
    query: listQuery(groupSorts, 'sort_order', {}),
    answers: page('Groups', schemas.DiagramGroupItemSchema),
    handler: ({ ctx, query }) => listGroups(ctx, query),
  });

  routes.post('/api/v1/diagram-groups', {
    id: 'createDiagramGroup',
    summary: 'Create a group of diagrams',
    permission: 'diagrams.manage',
    body: schemas.GroupCreateBody,

    answers: created('The group', group),
    errors: ['name_taken'],
    handler: ({ ctx, body }) => createGroup(ctx, body),
  });

  routes.patch('/api/v1/diagram-groups/:group_id', {
    id: 'patchDiagramGroup',
    summary: 'Change a group of diagrams',
    permission: 'diagrams.manage',
    body: schemas.GroupPatchBody,

    headers: ['If-Match'],
    answers: ok('The group', group),
    errors: ['name_taken'],
    handler: ({ ctx, params, body }) => patchGroup(ctx, params.group_id, body),
  });

  routes.delete('/api/v1/diagram-groups/:group_id', {
    id: 'deleteDiagramGroup',
    summary: 'Delete a group without its diagrams',
    permission: 'diagrams.manage',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteGroup(ctx, params.group_id),
  });
}
