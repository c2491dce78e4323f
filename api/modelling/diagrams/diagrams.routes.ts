import Type from 'typebox';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import {
  Choice,
  Clearable,
  component,
  itemComponent,
  Nullable,
  object,
  partialObject,
  TextUpTo,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import {
  createDiagram,
  deleteDiagram,
  linkCard,
  patchDiagram,
  unlinkCard,
} from '../../../domain/modelling/diagrams/diagrams.commands.ts';
import { diagramList, readDiagram } from '../../../domain/modelling/diagrams/diagrams.list.ts';
import {
  Diagram,
  DiagramGroup,
  type DiagramInput,
  visibilities,
} from '../../../domain/modelling/diagrams/diagrams.load.ts';
import { MAX_DRAWING } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { MAX_THUMBNAIL } from '../../../domain/modelling/diagrams/drawings.store.ts';
import {
  createGroup,
  deleteGroup,
  diagramGroupList,
  favoriteList,
  patchGroup,
  setDiagramGroups,
  starDiagram,
  unstarDiagram,
} from '../../../domain/modelling/diagrams/groups.ts';
import {
  GeneratedDrawingSchema,
  GenerateRequest,
  generateDrawing,
} from '../../../reports/modelling/diagrams/generate.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';

const { name: Name, description: Description } = Diagram.columns;
const Visibility = Choice(
  visibilities,
  '`private`: only its owner sees it; `shared`: those in `shared_with` as well; for others it does not exist',
);
const SharedWith = Type.Array(
  object({ user_id: Uuid, can_edit: Type.Optional(Type.Boolean({ default: false })) }),
  { maxItems: 100, description: 'The users who see it in addition to its owner; replaces the existing ones' },
);
const Data = Type.Object(
  {
    xml: Clearable(
      TextUpTo(
        MAX_DRAWING,
        'draw.io XML: `mxGraphModel`, or `mxfile` with plain or compressed pages. Cells refer to cards by an attribute `cardId` of `object`, `UserObject` or `mxCell`, or by a `link` to `/cards/{id}`',
      ),
    ),
    thumbnail: Clearable(TextUpTo(MAX_THUMBNAIL, 'A thumbnail as a `data:` URL: PNG, JPEG, WebP or SVG')),
  },
  {
    additionalProperties: true,
    maxProperties: 100,
    description: 'The drawing, and display settings of the client',
  },
);
const CardIds = Nullable(
  Type.Array(Uuid, { maxItems: 1000, description: 'All cards that are linked to it' }),
);

const bodies = bodiesOf(
  { name: Name },
  {
    description: Description,
    data: Nullable(Data),
    card_ids: CardIds,
    visibility: Visibility,
    shared_with: Nullable(SharedWith),
  },
);

const Ids = (description: string) => Type.Array(Uuid, { description });
const { id, name, description, created_by, created_at, updated_at } = Diagram.columns;
const common = {
  id,
  name,
  description,
  card_ids: Ids('Linked cards that you see'),
  group_ids: Ids('Groups that it is in'),
  visibility: Choice(visibilities),
  shared_with: Type.Array(object({ user_id: Uuid, display_name: Type.String(), can_edit: Type.Boolean() }), {
    description: 'The users with whom it is shared; users other than the owner only see themselves',
  }),
  can_edit: Type.Boolean({ description: 'Whether you may change it' }),
  created_by,
  created_by_name: Nullable(Type.String()),
  is_favorite: Type.Boolean(),
  created_at,
  updated_at,
};
const DiagramSchema = component('Diagram', {
  ...common,
  card_refs: Ids('Cards in the drawing that you see'),
  data: Type.Object(
    { xml: Type.String(), thumbnail: Type.Optional(Type.String()) },
    { additionalProperties: true },
  ),
});
/** A diagram in a list, with the requested members. */
const DiagramItemSchema = itemComponent('DiagramItem', {
  ...common,
  thumbnail: Nullable(Type.String()),
  card_count: Type.Integer({ minimum: 0, description: 'Cards that it contains or is linked to' }),
});

const DiagramFavoriteSchema = itemComponent('DiagramFavorite', {
  diagram_id: Uuid,
  name: Type.String(),
  created_at: Timestamp,
});

const groupBodies = bodiesOf(
  { name: Name },
  { color: DiagramGroup.columns.color, sort_order: Nullable(DiagramGroup.columns.sort_order) },
);
const DiagramGroupSchema = component('DiagramGroup', {
  ...DiagramGroup.columns,
  diagram_count: Type.Integer({ minimum: 0, description: 'Diagrams in it that you see' }),
});

const GenerateBody = object({
  ...GenerateRequest.properties,
  save: Type.Optional(
    partialObject(
      {
        name: Name,
        description: Description,
        visibility: Visibility,
        shared_with: Nullable(SharedWith),
      },
      { description: 'Saves it as a diagram; by default its name is the title' },
    ),
  ),
});

const BODY_LIMIT = 16 * 1024 * 1024;
const linkNote = 'diagrams.manage or card.manage_diagram_links';
const diagram = DiagramSchema;

/** Diagrams, and the cards that are linked to them. */
export function registerDiagramRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.list('listDiagrams', '/api/v1/diagrams', diagramList, {
    summary: 'List diagrams',
    responses: page('Diagrams, last changed first', DiagramItemSchema),
  });

  routes.post('createDiagram', '/api/v1/diagrams', {
    summary: 'Create a diagram',
    permission: 'diagrams.manage',
    body: bodies.create,
    bodyLimit: BODY_LIMIT,
    errors: ['query_too_heavy'],
    responses: created('The diagram', diagram),
    handler: ({ ctx, body }) => createDiagram(ctx, body as DiagramInput),
  });

  routes.get('getDiagram', '/api/v1/diagrams/:diagram_id', {
    summary: 'Read a diagram with its drawing',
    description:
      'The drawing is updated to the cards that you see: labels equal to a former name of a card get its current name, cells of merged cards refer to the survivor, and cells of archived and deleted cards have `cardState`. Everything else is returned as it was sent.',
    permission: 'diagrams.view',
    errors: ['query_too_heavy'],
    responses: ok('The diagram', diagram),
    handler: ({ ctx, params }) => readDiagram(ctx, params.diagram_id),
  });

  routes.patch('patchDiagram', '/api/v1/diagrams/:diagram_id', {
    summary: 'Change a diagram',
    description:
      '`data` merges key by key, null clears; `card_ids` replaces the links to cards that you see. Only its owner may change `visibility` and `shared_with`; `shared_with` alone makes a private diagram shared, and an empty one makes it private again.',
    permission: 'diagrams.manage',
    body: bodies.patch,
    bodyLimit: BODY_LIMIT,
    errors: ['query_too_heavy'],
    responses: ok('The diagram', diagram),
    handler: ({ ctx, params, body }) => patchDiagram(ctx, params.diagram_id, body as DiagramInput),
  });

  routes.delete('deleteDiagram', '/api/v1/diagrams/:diagram_id', {
    summary: 'Delete a diagram',
    permission: 'diagrams.manage',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteDiagram(ctx, params.diagram_id),
  });

  routes.post('linkDiagramCard', '/api/v1/diagrams/:diagram_id/cards', {
    summary: 'Link a card to a diagram',
    description: 'Has no effect if the card is linked already.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    body: object({ card_id: Uuid }),
    errors: ['query_too_heavy'],
    responses: created('The diagram', diagram),
    handler: ({ ctx, params, body }) => linkCard(ctx, params.diagram_id, body.card_id),
  });

  routes.delete('unlinkDiagramCard', '/api/v1/diagrams/:diagram_id/cards/:card_id', {
    summary: 'Unlink a card from a diagram',
    description: 'The drawing is not changed.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    ifMatch: true,
    responses: { 204: { description: 'Unlinked' } },
    handler: ({ ctx, params }) => unlinkCard(ctx, params.diagram_id, params.card_id),
  });

  routes.put('setDiagramGroups', '/api/v1/diagrams/:diagram_id/groups', {
    summary: 'Set all groups that a diagram is in',
    permission: 'diagrams.manage',
    body: object({ group_ids: Type.Array(Uuid, { maxItems: 200 }) }),
    ifMatch: true,
    errors: ['query_too_heavy'],
    responses: ok('The diagram', diagram),
    handler: ({ ctx, params, body }) => setDiagramGroups(ctx, params.diagram_id, body.group_ids),
  });
}

const group = DiagramGroupSchema;

/** Favourite diagrams, and groups of diagrams. */
export function registerDiagramGroupRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams', permission: 'diagrams.view' });

  routes.list('listDiagramFavorites', '/api/v1/diagrams/favorites', favoriteList, {
    summary: 'List your favourite diagrams',
    responses: page('Ids of diagrams', DiagramFavoriteSchema),
  });

  routes.post('starDiagram', '/api/v1/diagrams/:diagram_id/favorite', {
    summary: 'Make a diagram a favourite',
    description: 'Has no effect if it is one already.',
    responses: created('The favourite', DiagramFavoriteSchema),
    handler: ({ ctx, params }) => starDiagram(ctx, params.diagram_id),
  });

  routes.delete('unstarDiagram', '/api/v1/diagrams/:diagram_id/favorite', {
    summary: 'Remove a diagram from your favourites',
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unstarDiagram(ctx, params.diagram_id),
  });

  routes.list('listDiagramGroups', '/api/v1/diagram-groups', diagramGroupList, {
    summary: 'List groups of diagrams',
    responses: page('Groups', DiagramGroupSchema),
  });

  routes.post('createDiagramGroup', '/api/v1/diagram-groups', {
    summary: 'Create a group of diagrams',
    permission: 'diagrams.manage',
    body: groupBodies.create,
    responses: created('The group', group),
    errors: ['name_taken'],
    handler: ({ ctx, body }) => createGroup(ctx, body),
  });

  routes.patch('patchDiagramGroup', '/api/v1/diagram-groups/:group_id', {
    summary: 'Change a group of diagrams',
    permission: 'diagrams.manage',
    body: groupBodies.patch,
    responses: ok('The group', group),
    errors: ['name_taken'],
    handler: ({ ctx, params, body }) => patchGroup(ctx, params.group_id, body),
  });

  routes.delete('deleteDiagramGroup', '/api/v1/diagram-groups/:group_id', {
    summary: 'Delete a group without its diagrams',
    permission: 'diagrams.manage',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteGroup(ctx, params.group_id),
  });
}

/** Diagrams that are generated from the inventory. */
export function registerGenerateRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.post('generateDiagram', '/api/v1/diagrams/generate', {
    summary:
      'Generate a diagram of the dependencies of a card, or of the cards of a type grouped by another type',
    description:
      'Returns a preview without writing, unless `save` is given. It contains active cards that you see, each with its `cardId`, so that reads of the diagram update it; `truncated` is true if there are more than `max_cards`.',
    permission: 'diagrams.view',
    permissionNote: 'inventory.view; relations.view; diagrams.manage to save',
    body: GenerateBody,
    errors: ['not_found'],
    responses: {
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
