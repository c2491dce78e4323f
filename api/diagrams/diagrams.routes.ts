import Type, { type TSchema } from 'typebox';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import {
  createDiagram,
  deleteDiagram,
  patchDiagram,
} from '../../domain/modelling/diagrams/diagrams.commands.ts';
import { linkCard, unlinkCard } from '../../domain/modelling/diagrams/diagrams.links.ts';
import {
  diagramFilters,
  diagramSorts,
  listDiagrams,
  readDiagram,
} from '../../domain/modelling/diagrams/diagrams.list.ts';
import type { DiagramInput } from '../../domain/modelling/diagrams/diagrams.types.ts';
import { setDiagramGroups } from '../../domain/modelling/diagrams/groups.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/diagrams.ts';
import type { App } from '../types.ts';

const tag = 'Diagrams';
const BODY_LIMIT = 16 * 1024 * 1024;
const Params = Type.Object({ diagram_id: Uuid }, closed);
const LinkParams = Type.Object({ diagram_id: Uuid, card_id: Uuid }, closed);
const linkNote = 'diagrams.manage or card.manage_diagram_links';
const diagram = Type.Ref('Diagram#');

const xml =
  '<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/><UserObject id="2" label="Payroll" cardId="00000000-0000-4000-8000-000000000001"><mxCell style="rounded=1" vertex="1" parent="1"><mxGeometry x="40" y="40" width="160" height="60" as="geometry"/></mxCell></UserObject></root></mxGraphModel>';

/** Diagrams, and the cards that are linked to them. */
export function registerDiagramRoutes(app: App): void {
  const shared: TSchema[] = [schemas.DiagramSchema, schemas.DiagramItemSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/diagrams',
    id: 'listDiagrams',
    tag,
    summary: 'List diagrams',
    permission: 'diagrams.view',
    query: listQuery(diagramSorts, 'updated_at', diagramFilters),
    answers: {
      200: { description: 'Diagrams, last changed first', schema: listAnswer(Type.Ref('DiagramItem#')) },
    },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listDiagrams(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/diagrams',
    id: 'createDiagram',
    tag,
    summary: 'Create a diagram',
    permission: 'diagrams.manage',
    body: schemas.DiagramCreateBody,
    bodyExample: { name: 'Payroll and its surroundings', data: { xml } },
    bodyLimit: BODY_LIMIT,
    errors: ['query_too_heavy'],
    answers: { 201: { description: 'The diagram', schema: diagram, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createDiagram(ctx, body as DiagramInput)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/diagrams/:diagram_id',
    id: 'getDiagram',
    tag,
    summary: 'Read a diagram with its drawing',
    description:
      'The drawing is updated to the cards that you see: labels equal to a former name of a card get its current name, cells of merged cards refer to the survivor, and cells of archived and deleted cards have `cardState`. Everything else is as it was sent.',
    permission: 'diagrams.view',
    params: Params,
    errors: ['query_too_heavy'],
    answers: { 200: { description: 'The diagram', schema: diagram } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readDiagram(ctx, params.diagram_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/diagrams/:diagram_id',
    id: 'patchDiagram',
    tag,
    summary: 'Change a diagram',
    description:
      '`data` merges key by key, null clears; `card_ids` replaces the links to cards that you see. Only its owner may change `visibility` and `shared_with`; `shared_with` alone makes a private diagram shared, and an empty one makes it private again.',
    permission: 'diagrams.manage',
    params: Params,
    body: schemas.DiagramPatchBody,
    bodyExample: { name: 'Payroll', card_ids: [] },
    bodyLimit: BODY_LIMIT,
    headers: ['If-Match'],
    errors: ['query_too_heavy'],
    answers: { 200: { description: 'The diagram', schema: diagram } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchDiagram(ctx, params.diagram_id, body as DiagramInput)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagrams/:diagram_id',
    id: 'deleteDiagram',
    tag,
    summary: 'Delete a diagram',
    permission: 'diagrams.manage',
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteDiagram(ctx, params.diagram_id);
      return reply.code(204).send();
    },
  });

  registerDiagramLinkRoutes(app);
}

/** Cards and groups of diagrams. */
function registerDiagramLinkRoutes(app: App): void {
  operation(app, {
    method: 'POST',
    url: '/api/v1/diagrams/:diagram_id/cards',
    id: 'linkDiagramCard',
    tag,
    summary: 'Link a card to a diagram',
    description: 'Has no effect if the card is linked already.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    params: Params,
    body: Type.Object({ card_id: Uuid }, closed),
    errors: ['query_too_heavy'],
    answers: { 201: { description: 'The diagram', schema: diagram, headers: ['ETag'] } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), await linkCard(ctx, params.diagram_id, body.card_id)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/diagrams/:diagram_id/cards/:card_id',
    id: 'unlinkDiagramCard',
    tag,
    summary: 'Unlink a card from a diagram',
    description: 'The drawing is not changed.',
    permission: 'diagrams.view',
    permissionNote: linkNote,
    params: LinkParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Unlinked' } },
    handler: async ({ ctx, params, reply }) => {
      await unlinkCard(ctx, params.diagram_id, params.card_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'PUT',
    url: '/api/v1/diagrams/:diagram_id/groups',
    id: 'setDiagramGroups',
    tag,
    summary: 'Set all groups that a diagram is in',
    permission: 'diagrams.manage',
    params: Params,
    body: Type.Object({ group_ids: Type.Array(Uuid, { maxItems: 200 }) }, closed),
    bodyExample: { group_ids: [] },
    headers: ['If-Match'],
    errors: ['query_too_heavy'],
    answers: { 200: { description: 'The diagram', schema: diagram } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await setDiagramGroups(ctx, params.diagram_id, body.group_ids)),
  });
}
