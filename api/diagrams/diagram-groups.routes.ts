import Type, { type TSchema } from 'typebox';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import {
  favoriteSorts,
  listDiagramFavorites,
  starDiagram,
  unstarDiagram,
} from '../../domain/modelling/diagrams/diagrams.favorites.ts';
import {
  createGroup,
  deleteGroup,
  groupSorts,
  listGroups,
  patchGroup,
} from '../../domain/modelling/diagrams/groups.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/diagrams.ts';
import type { App } from '../types.ts';

const tag = 'Diagrams';
const DiagramParams = Type.Object({ diagram_id: Uuid }, closed);
const GroupParams = Type.Object({ group_id: Uuid }, closed);
const group = Type.Ref('DiagramGroup#');

/** Favourite diagrams, and groups of diagrams. */
export function registerDiagramGroupRoutes(app: App): void {
  const shared: TSchema[] = [
    schemas.DiagramFavoriteSchema,
    schemas.DiagramGroupSchema,
    schemas.DiagramGroupItemSchema,
  ];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/diagrams/favorites',
    id: 'listDiagramFavorites',
    tag,
    summary: 'List your favourite diagrams',
    permission: 'diagrams.view',
    query: listQuery(favoriteSorts, 'created_at', {}),
    answers: {
      200: { description: 'Ids of diagrams', schema: listAnswer(Type.Ref('DiagramFavorite#')) },
    },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listDiagramFavorites(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/diagrams/:diagram_id/favorite',
    id: 'starDiagram',
    tag,
    summary: 'Make a diagram a favourite',
    description: 'Has no effect if it is one already.',
    permission: 'diagrams.view',
    params: DiagramParams,
    answers: {
      201: { description: 'The favourite', schema: Type.Ref('DiagramFavorite#'), headers: ['ETag'] },
    },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply.code(201), await starDiagram(ctx, params.diagram_id)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagrams/:diagram_id/favorite',
    id: 'unstarDiagram',
    tag,
    summary: 'Remove a diagram from your favourites',
    permission: 'diagrams.view',
    params: DiagramParams,
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await unstarDiagram(ctx, params.diagram_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/diagram-groups',
    id: 'listDiagramGroups',
    tag,
    summary: 'List groups of diagrams',
    permission: 'diagrams.view',
    query: listQuery(groupSorts, 'sort_order', {}),
    answers: { 200: { description: 'Groups', schema: listAnswer(Type.Ref('DiagramGroupItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listGroups(ctx, query)),
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
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createGroup(ctx, body)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/diagram-groups/:group_id',
    id: 'patchDiagramGroup',
    tag,
    summary: 'Change a group of diagrams',
    permission: 'diagrams.manage',
    params: GroupParams,
    body: schemas.GroupPatchBody,
    bodyExample: { sort_order: 10 },
    headers: ['If-Match'],
    answers: { 200: { description: 'The group', schema: group } },
    errors: ['name_taken'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchGroup(ctx, params.group_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagram-groups/:group_id',
    id: 'deleteDiagramGroup',
    tag,
    summary: 'Delete a group; its diagrams stay',
    permission: 'diagrams.manage',
    params: GroupParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteGroup(ctx, params.group_id);
      return reply.code(204).send();
    },
  });
}
