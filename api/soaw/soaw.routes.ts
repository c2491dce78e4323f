import Type, { type TSchema } from 'typebox';
import {
  createSoaw,
  deleteSoaw,
  patchSoaw,
  readSoaw,
  reviseSoaw,
} from '../../domain/governance/soaw/soaw.commands.ts';
import { soawKind } from '../../domain/governance/soaw/soaw.kind.ts';
import {
  listSoawRevisions,
  listSoaws,
  soawFilters,
  soawSorts,
} from '../../domain/governance/soaw/soaw.list.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { readSoawFile } from '../../reports/governance/documents/document.soaw.ts';
import { paperMedia, sendFile } from '../files/files.paper.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { FileContent } from '../schemas/decision-files.ts';
import * as schemas from '../schemas/soaw.ts';
import { registerSigning } from '../signatures/signing.routes.ts';
import type { App } from '../types.ts';

const tag = 'Statements of architecture work';
const url = '/api/v1/soaw';
const Params = Type.Object({ soaw_id: Uuid }, closed);
const soaw = Type.Ref('Soaw#');
const listed = listAnswer(Type.Ref('SoawItem#'));
const reading = { tag, permission: 'soaw.view' } as const;
const managing = { tag, permission: 'soaw.manage' } as const;

/** Statements of architecture work, about an initiative or none. */
export function registerSoawRoutes(app: App): void {
  const shared: TSchema[] = [schemas.SoawSchema, schemas.SoawItemSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    ...reading,
    method: 'GET',
    url,
    id: 'listSoaws',
    summary: 'List statements of architecture work',
    description: '`search` looks into all that they say. With `fields` the sections can be left out.',
    query: listQuery(soawSorts, 'created_at', soawFilters),
    answers: { 200: { description: 'Statements, newest first', schema: listed } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listSoaws(ctx, query)),
  });

  operation(app, {
    ...managing,
    method: 'POST',
    url,
    id: 'createSoaw',
    summary: 'Write a statement of architecture work, as a draft',
    body: schemas.SoawCreateBody,
    bodyExample: schemas.soawExample,
    answers: { 201: { description: 'The statement', schema: soaw, headers: ['ETag'] } },
    errors: ['use_operation'],
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSoaw(ctx, body as Parameters<typeof createSoaw>[1])),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: `${url}/:soaw_id`,
    id: 'getSoaw',
    summary: 'Read a statement of architecture work',
    params: Params,
    answers: { 200: { description: 'The statement', schema: soaw } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readSoaw(ctx, params.soaw_id)),
  });

  operation(app, {
    ...managing,
    method: 'PATCH',
    url: `${url}/:soaw_id`,
    id: 'patchSoaw',
    summary: 'Change a statement of architecture work',
    description:
      '`document_info`, `version_history` and `sections` are replaced as wholes. What is in review has to be recalled first (409). What is signed nobody changes (403 `document_signed`): it is revised.',
    params: Params,
    body: schemas.SoawPatchBody,
    bodyExample: { name: 'One order desk for all' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The statement', schema: soaw, headers: ['ETag'] } },
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchSoaw(ctx, params.soaw_id, body as Parameters<typeof patchSoaw>[2])),
  });

  operation(app, {
    ...managing,
    method: 'DELETE',
    url: `${url}/:soaw_id`,
    id: 'deleteSoaw',
    summary: 'Delete a statement of architecture work',
    description: 'In any state; its other revisions stay.',
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteSoaw(ctx, params.soaw_id);
      return reply.code(204).send();
    },
  });

  registerSoawDocumentRoutes(app);
}

/** Documents, signatures and revisions of statements. */
function registerSoawDocumentRoutes(app: App): void {
  operation(app, {
    ...reading,
    method: 'GET',
    url: `${url}/:soaw_id/export`,
    id: 'exportSoaw',
    summary: 'Hand a statement on as a file',
    description:
      'With title block, version history, sections that are not hidden, tables, and signatures with their hash.',
    params: Params,
    query: Type.Object(
      {
        format: Type.Union([Type.Literal('docx'), Type.Literal('pdf')], {
          default: 'docx',
          description: 'The form of the file',
        }),
      },
      closed,
    ),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    answers: {
      200: {
        description: 'The file',
        schema: FileContent,
        mediaType: Object.values(paperMedia),
        headers: ['Content-Disposition'],
      },
    },
    handler: async ({ ctx, params, query, reply }) =>
      await sendFile(
        reply,
        { ...(await readSoawFile(ctx, params.soaw_id)), format: query.format },
        ctx.caller.userId,
      ),
  });

  registerSigning(app, {
    kind: soawKind,
    tag,
    url,
    parameter: 'soaw_id',
    name: 'Soaw',
    one: 'statement of architecture work',
    schema: soaw,
    revise: reviseSoaw,
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: `${url}/:soaw_id/revisions`,
    id: 'listSoawRevisions',
    summary: 'List the revisions of a statement',
    params: Params,
    query: listQuery(soawSorts, 'revision_number', {}),
    answers: { 200: { description: 'All of them, the first one first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listSoawRevisions(ctx, params.soaw_id, query)),
  });
}
