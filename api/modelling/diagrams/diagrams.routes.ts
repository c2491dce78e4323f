import Type from 'typebox';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { object, Uuid } from '../../../domain/kernel/shapes.ts';
import {
  createDiagram,
  deleteDiagram,
  linkCard,
  patchDiagram,
  unlinkCard,
} from '../../../domain/modelling/diagrams/diagrams.commands.ts';
import {
  diagramFilters,
  diagramSorts,
  listDiagrams,
  readDiagram,
} from '../../../domain/modelling/diagrams/diagrams.list.ts';
import type { DiagramInput } from '../../../domain/modelling/diagrams/diagrams.load.ts';
import {
  createGroup,
  deleteGroup,
  favoriteSorts,
  groupSorts,
  listDiagramFavorites,
  listGroups,
  patchGroup,
  setDiagramGroups,
  starDiagram,
  unstarDiagram,
} from '../../../domain/modelling/diagrams/groups.ts';
import { generateDrawing } from '../../../reports/modelling/diagrams/generate.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/diagrams.ts';
import { DiagramSchema, GenerateBody, GeneratedDrawingSchema } from '../../schemas/diagrams.ts';
import type { App } from '../../types.ts';

const BODY_LIMIT = 16 * 1024 * 1024;
const linkNote = 'diagrams.manage or card.manage_diagram_links';
const diagram = schemas.DiagramSchema;

/** Diagrams, and the cards that are linked to them. */
export function registerDiagramRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.get('/api/v1/diagrams', {
    id: 'listDiagrams',
    summary: 'List diagrams',
    permission: 'diagrams.view',
    query: listQuery(diagramSorts, 'updated_at', diagramFilters),
    answers: page('Diagrams, last changed first', schemas.DiagramItemSchema),
    handler: ({ ctx, query }) => listDiagrams(ctx, query),
  });

  routes.post('/api/v1/diagrams', {
    id: 'createDiagram',
    summary: 'Create a diagram',
    permission: 'diagrams.manage',
    body: schemas.DiagramCreateBody,

    bodyLimit: BODY_LIMIT,
    errors: ['query_too_heavy'],
    answers: created('The diagram', diagram),
    handler: ({ ctx, body }) => createDiagram(ctx, body as DiagramInput),
  });

  routes.get('/api/v1/diagrams/:diagram_id', {
    id: 'getDiagram',
    summary: 'Read a diagram with its drawing',
    description:
      'The drawing is updated to the cards that you see: labels equal to a former name of a card get its current name, cells of merged cards refer to the survivor, and cells of archived and deleted cards have `cardState`. Everything else is returned as it was sent.',
    permission: 'diagrams.view',
    errors: ['query_too_heavy'],
    answers: ok('The diagram', diagram),
    handler: ({ ctx, params }) => readDiagram(ctx, params.diagram_id),
  });

  routes.patch('/api/v1/diagrams/:diagram_id', {
    id: 'patchDiagram',
    summary: 'Change a diagram',
    description:
      '`data` merges key by key, null clears; `card_ids` replaces the links to cards that you see. Only its owner may change `visibility` and `shared_with`; `shared_with` alone makes a private diagram shared, and an empty one makes it private again.',
    permission: 'diagrams.manage',
    body: schemas.DiagramPatchBody,

    bodyLimit: BODY_LIMIT,
    headers: ['If-Match'],
    errors: ['query_too_heavy'],
    answers: ok('The diagram', diagram),
    handler: ({ ctx, params, body }) => patchDiagram(ctx, params.diagram_id, body as DiagramInput),
  });

  routes.delete('/api/v1/diagrams/:diagram_id', {
    id: 'deleteDiagram',
    summary: 'Delete a diagram',
    permission: 'diagrams.manage',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteDiagram(ctx, params.diagram_id),
  });

  routes.post('/api/v1/diagrams/:diagram_id/cards', {
    id: 'linkDiagramCard',
    summary: 'Link a card to a diagram',
    description: 'Has no effect if the card is linked already.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    body: object({ card_id: Uuid }),
    errors: ['query_too_heavy'],
    answers: created('The diagram', diagram),
    handler: ({ ctx, params, body }) => linkCard(ctx, params.diagram_id, body.card_id),
  });

  routes.delete('/api/v1/diagrams/:diagram_id/cards/:card_id', {
    id: 'unlinkDiagramCard',
    summary: 'Unlink a card from a diagram',
    description: 'The drawing is not changed.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    headers: ['If-Match'],
    answers: { 204: { description: 'Unlinked' } },
    handler: ({ ctx, params }) => unlinkCard(ctx, params.diagram_id, params.card_id),
  });

  routes.put('/api/v1/diagrams/:diagram_id/groups', {
    id: 'setDiagramGroups',
    summary: 'Set all groups that a diagram is in',
    permission: 'diagrams.manage',
    body: object({ group_ids: Type.Array(Uuid, { maxItems: 200 }) }),

    headers: ['If-Match'],
    errors: ['query_too_heavy'],
    answers: ok('The diagram', diagram),
    handler: ({ ctx, params, body }) => setDiagramGroups(ctx, params.diagram_id, body.group_ids),
  });
}

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

/** Diagrams that are generated from the inventory. */
export function registerGenerateRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.post('/api/v1/diagrams/generate', {
    id: 'generateDiagram',
    summary:
      'Generate a diagram of the dependencies of a card, or of the cards of a type grouped by another type',
    description:
      'Returns a preview without writing, unless `save` is given. It contains active cards that you see, each with its `cardId`, so that reads of the diagram update it; `truncated` is true if there are more than `max_cards`.',
    permission: 'diagrams.view',
    permissionNote: 'inventory.view; relations.view; diagrams.manage to save',
    body: GenerateBody,

    errors: ['not_found'],
    answers: {
      200: { description: 'The preview', schema: GeneratedDrawingSchema },
      201: { description: 'The saved diagram', schema: DiagramSchema, headers: ['ETag'] },
    },
    handler: async ({ ctx, body, reply }) => {
      const { save, ...request } = body;
      if (save) requirePermission(ctx.caller, 'diagrams.manage');
      const generated = await generateDrawing(ctx, request);
      if (!save) return generated;
      const { name = generated.title.slice(0, 200), ...rest } = save;
      reply.code(201);
      return await createDiagram(ctx, { ...rest, name, data: { xml: generated.xml } });
    },
  });
}
