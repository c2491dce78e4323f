import Type, { type TSchema } from 'typebox';
import {
  createAdr,
  deleteAdr,
  duplicateAdr,
  patchAdr,
  readAdr,
  reviseAdr,
} from '../../domain/governance/adr/adr.commands.ts';
import { adrKind } from '../../domain/governance/adr/adr.kind.ts';
import { linkAdrCard, unlinkAdrCard } from '../../domain/governance/adr/adr.links.ts';
import {
  adrFilters,
  adrSorts,
  cardAdrFilters,
  listAdrRevisions,
  listAdrs,
  listCardAdrs,
} from '../../domain/governance/adr/adr.list.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/adr.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { sharedSchemas } from '../schemas/signatures.ts';
import { registerSigning } from '../signatures/signing.routes.ts';
import type { App } from '../types.ts';

const tag = 'Architecture decisions';
const url = '/api/v1/adr';
const Params = Type.Object({ adr_id: Uuid }, closed);
const adr = Type.Ref('Adr#');
const listed = listAnswer(Type.Ref('AdrItem#'));
const linking = {
  tag,
  permission: 'adr.view',
  permissionNote: 'adr.manage or card.manage_adr_links on the card',
} as const;

/** Architecture decision records, and the cards that they are about. */
export function registerAdrRoutes(app: App): void {
  const shared: TSchema[] = [...sharedSchemas, schemas.AdrSchema, schemas.AdrItemSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url,
    id: 'listAdrs',
    tag,
    summary: 'List architecture decisions',
    description: '`search` looks into number, title and all texts.',
    permission: 'adr.view',
    query: listQuery(adrSorts, 'created_at', adrFilters),
    answers: { 200: { description: 'Decisions, newest first', schema: listed } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listAdrs(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url,
    id: 'createAdr',
    tag,
    summary: 'Write an architecture decision, as a draft',
    description: 'It gets the number after the highest.',
    permission: 'adr.manage',
    body: schemas.AdrCreateBody,
    bodyExample: schemas.adrExample,
    answers: { 201: { description: 'The decision', schema: adr, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createAdr(ctx, body)),
  });

  operation(app, {
    method: 'GET',
    url: `${url}/by-card/:card_id`,
    id: 'listCardAdrs',
    tag,
    summary: 'List the decisions that a card is linked to',
    permission: 'adr.view',
    permissionNote: 'inventory.view or card.view',
    params: Type.Object({ card_id: Uuid }, closed),
    query: listQuery(adrSorts, 'created_at', cardAdrFilters),
    answers: { 200: { description: 'Decisions, newest first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listCardAdrs(ctx, params.card_id, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${url}/:adr_id`,
    id: 'getAdr',
    tag,
    summary: 'Read an architecture decision',
    permission: 'adr.view',
    params: Params,
    answers: { 200: { description: 'The decision', schema: adr } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readAdr(ctx, params.adr_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: `${url}/:adr_id`,
    id: 'patchAdr',
    tag,
    summary: 'Change a draft of a decision',
    description:
      'What is in review has to be recalled first (409). What is signed nobody changes (403 `document_signed`): it is revised.',
    permission: 'adr.manage',
    params: Params,
    body: schemas.AdrPatchBody,
    bodyExample: { decision: 'Chosen option: one order desk, since stocks are counted once.' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The decision', schema: adr, headers: ['ETag'] } },
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchAdr(ctx, params.adr_id, body as Parameters<typeof patchAdr>[2])),
  });

  operation(app, {
    method: 'DELETE',
    url: `${url}/:adr_id`,
    id: 'deleteAdr',
    tag,
    summary: 'Delete a draft of a decision',
    description: "One's own with `adr.manage`, anybody's with `adr.delete`.",
    permission: ['adr.manage', 'adr.delete'],
    permissionNote: "adr.delete for others' records",
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await deleteAdr(ctx, params.adr_id);
      return reply.code(204).send();
    },
  });

  registerAdrRevisionRoutes(app);
}

/** Copies, signatures and revisions of a decision. */
function registerAdrRevisionRoutes(app: App): void {
  operation(app, {
    method: 'POST',
    url: `${url}/:adr_id/duplicate`,
    id: 'duplicateAdr',
    tag,
    summary: 'Copy a decision to a draft with a number of its own',
    description: 'With its texts and the cards that it is linked to.',
    permission: 'adr.manage',
    params: Params,
    answers: { 201: { description: 'The copy', schema: adr, headers: ['ETag'] } },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply.code(201), await duplicateAdr(ctx, params.adr_id)),
  });

  registerSigning(app, {
    kind: adrKind,
    tag,
    url,
    parameter: 'adr_id',
    name: 'Adr',
    one: 'decision',
    schema: adr,
    revise: reviseAdr,
  });

  operation(app, {
    method: 'GET',
    url: `${url}/:adr_id/revisions`,
    id: 'listAdrRevisions',
    tag,
    summary: 'List the revisions of a decision',
    permission: 'adr.view',
    params: Params,
    query: listQuery(adrSorts, 'revision_number', {}),
    answers: { 200: { description: 'All of them, the first one first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listAdrRevisions(ctx, params.adr_id, query)),
  });

  registerAdrCardRoutes(app);
}

/** The cards of decisions. */
function registerAdrCardRoutes(app: App): void {
  operation(app, {
    ...linking,
    method: 'POST',
    url: `${url}/:adr_id/cards`,
    id: 'linkAdrCard',
    summary: 'Link a decision to a card',
    description: 'In any state: which cards a decision is about is no part of what is signed.',
    params: Params,
    body: schemas.AdrCardBody,
    answers: { 201: { description: 'The decision', schema: adr, headers: ['ETag'] } },
    errors: ['duplicate_link', 'conflict'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), await linkAdrCard(ctx, params.adr_id, body.card_id)),
  });

  operation(app, {
    ...linking,
    method: 'DELETE',
    url: `${url}/:adr_id/cards/:card_id`,
    id: 'unlinkAdrCard',
    summary: 'Remove the link of a decision to a card',
    params: Type.Object({ adr_id: Uuid, card_id: Uuid }, closed),
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await unlinkAdrCard(ctx, params.adr_id, params.card_id);
      return reply.code(204).send();
    },
  });
}
