import {
  createAdr,
  deleteAdr,
  duplicateAdr,
  patchAdr,
  reviseAdr,
} from '../../../domain/governance/adr/adr.commands.ts';
import {
  adrFilters,
  adrKind,
  adrSorts,
  cardAdrFilters,
  listAdrs,
  listCardAdrs,
} from '../../../domain/governance/adr/adr.kind.ts';
import { linkAdrCard, unlinkAdrCard } from '../../../domain/governance/adr/adr.links.ts';
import { readRecord } from '../../../domain/governance/signatures/signatures.records.ts';
import { created, ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/adr.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';
import { registerSigning } from '../signatures/signing.routes.ts';

const tag = 'Architecture decisions';
const url = '/api/v1/adr';
const adr = schemas.AdrSchema;
const listed = listAnswer(schemas.AdrItemSchema);

/** Architecture decision records and their links to cards. */
export function registerAdrRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Architecture decisions' });

  routes.get(url, {
    id: 'listAdrs',
    summary: 'List architecture decisions',
    description: '`search` searches number, title and all texts.',
    permission: 'adr.view',
    query: listQuery(adrSorts, 'created_at', adrFilters),
    answers: ok('Decisions, newest first', listed),
    handler: ({ ctx, query }) => listAdrs(ctx, query),
  });

  routes.post(url, {
    id: 'createAdr',
    summary: 'Create an architecture decision as a draft',
    description: 'It gets the number after the highest.',
    permission: 'adr.manage',
    body: schemas.AdrCreateBody,

    answers: created('The decision', adr),
    handler: ({ ctx, body }) => createAdr(ctx, body),
  });

  routes.get('/api/v1/adr/by-card/:card_id', {
    id: 'listCardAdrs',
    summary: 'List the decisions that a card is linked to',
    permission: 'adr.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(adrSorts, 'created_at', cardAdrFilters),
    answers: ok('Decisions, newest first', listed),
    handler: ({ ctx, params, query }) => listCardAdrs(ctx, params.card_id, query),
  });

  routes.get('/api/v1/adr/:adr_id', {
    id: 'getAdr',
    summary: 'Read an architecture decision',
    permission: 'adr.view',
    answers: ok('The decision', adr),
    handler: ({ ctx, params }) => readRecord(ctx, adrKind, params.adr_id),
  });

  routes.patch('/api/v1/adr/:adr_id', {
    id: 'patchAdr',
    summary: 'Change a draft of a decision',
    description:
      'A document in review has to be recalled first (409). A signed one cannot be changed (403 `document_signed`), only revised.',
    permission: 'adr.manage',
    body: schemas.AdrPatchBody,

    headers: ['If-Match'],
    answers: ok('The decision', adr, 'ETag'),
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: ({ ctx, params, body }) => patchAdr(ctx, params.adr_id, body as Parameters<typeof patchAdr>[2]),
  });

  routes.delete('/api/v1/adr/:adr_id', {
    id: 'deleteAdr',
    summary: 'Delete a draft of a decision',
    description: "The caller's drafts with `adr.manage`, all drafts with `adr.delete`.",
    permission: ['adr.manage', 'adr.delete'],
    permissionNote: "adr.delete for others' records",
    headers: ['If-Match'],
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteAdr(ctx, params.adr_id),
  });

  routes.post('/api/v1/adr/:adr_id/duplicate', {
    id: 'duplicateAdr',
    summary: 'Copy a decision to a draft with a new number',
    description: 'With its texts and the cards that it is linked to.',
    permission: 'adr.manage',
    answers: created('The copy', adr),
    handler: ({ ctx, params }) => duplicateAdr(ctx, params.adr_id),
  });

  registerSigning(app, {
    kind: adrKind,
    tag,
    url,
    parameter: 'adr_id',
    name: 'Adr',
    one: 'decision',
    short: 'decision',
    schema: adr,
    listed,
    sorts: adrSorts,
    revise: reviseAdr,
  });

  const linking = routesOf(app, {
    tag,
    permission: 'adr.view',
    permissionNote: 'adr.manage or card.manage_adr_links on the card',
  });

  linking.post('/api/v1/adr/:adr_id/cards', {
    id: 'linkAdrCard',
    summary: 'Link a decision to a card',
    description: 'In any state, because links are not part of the signed content.',
    body: schemas.AdrCardBody,
    answers: created('The decision', adr),
    errors: ['duplicate_link', 'conflict'],
    handler: ({ ctx, params, body }) => linkAdrCard(ctx, params.adr_id, body.card_id),
  });

  linking.delete('/api/v1/adr/:adr_id/cards/:card_id', {
    id: 'unlinkAdrCard',
    summary: 'Remove the link of a decision to a card',
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unlinkAdrCard(ctx, params.adr_id, params.card_id),
  });
}
