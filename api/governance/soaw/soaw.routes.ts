import Type from 'typebox';
import { readRecord } from '../../../domain/governance/signatures/signatures.records.ts';
import { signedStatuses } from '../../../domain/governance/signatures/signatures.types.ts';
import {
  createSoaw,
  deleteSoaw,
  patchSoaw,
  reviseSoaw,
} from '../../../domain/governance/soaw/soaw.commands.ts';
import { listSoaws, soawFilters, soawKind, soawSorts } from '../../../domain/governance/soaw/soaw.kind.ts';
import {
  DocumentHead,
  entry,
  info,
  MAX_NAME,
  SectionSchema,
  Sections,
  sections,
  VersionHistory,
} from '../../../domain/governance/soaw/soaw.model.ts';
import {
  Choice,
  Clearable,
  component,
  itemComponent,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { readSoawFile } from '../../../reports/governance/documents/document.soaw.ts';
import { documentMedia, sendFile } from '../../kernel/files/files.documents.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { bodiesOf, listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import {
  FileContent,
  IntegrityMember,
  RejectionMember,
  signedMembers,
} from '../signatures/signatures.schemas.ts';
import { registerSigning } from '../signatures/signing.routes.ts';

const Status = Choice(signedStatuses);
const content = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
  initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
  document_info: object(info),
  version_history: Type.Array(object(entry)),
  sections: sections(SectionSchema),
};
const soawMembers = {
  id: Uuid,
  ...content,
  initiative_name: Nullable(Type.String()),
  status: Status,
  ...signedMembers,
  rejection: RejectionMember,
};
const SoawSchema = component('Soaw', { ...soawMembers, integrity: IntegrityMember });
/** A statement in a list, with the requested members. */
const SoawItemSchema = itemComponent('SoawItem', soawMembers);

const bodies = bodiesOf(
  { name: content.name },
  {
    initiative_id: content.initiative_id,
    document_info: Nullable(DocumentHead),
    version_history: Nullable(VersionHistory),
    sections: Nullable(Sections),
  },
);
const SoawCreateBody = object({
  ...bodies.create.properties,
  status: Type.Optional(Type.String({ description: '`draft`; others are refused with `use_operation`' })),
});
const SoawPatchBody = object({
  ...bodies.patch.properties,
  status: Clearable(
    Type.String({
      description: 'Can change between `draft` and `approved`; others are refused with `use_operation`',
    }),
  ),
});

const tag = 'Statements of architecture work';
const url = '/api/v1/soaw';
const listed = listResponse(SoawItemSchema);

/** Statements of architecture work, about an initiative or none. */
export function registerSoawRoutes(app: App): void {
  const reading = routesOf(app, { tag, permission: 'soaw.view' });
  const managing = routesOf(app, { tag, permission: 'soaw.manage' });

  reading.get(url, {
    id: 'listSoaws',
    summary: 'List statements of architecture work',
    description: '`search` searches all contents. With `fields` the sections can be left out.',
    query: listQuery(soawSorts, 'created_at', soawFilters),
    responses: ok('Statements, newest first', listed),
    handler: ({ ctx, query }) => listSoaws(ctx, query),
  });

  managing.post(url, {
    id: 'createSoaw',
    summary: 'Create a statement of architecture work as a draft',
    body: SoawCreateBody,
    responses: created('The statement', SoawSchema),
    errors: ['use_operation'],
    handler: ({ ctx, body }) => createSoaw(ctx, body as Parameters<typeof createSoaw>[1]),
  });

  reading.get('/api/v1/soaw/:soaw_id', {
    id: 'getSoaw',
    summary: 'Read a statement of architecture work',
    responses: ok('The statement', SoawSchema),
    handler: ({ ctx, params }) => readRecord(ctx, soawKind, params.soaw_id),
  });

  managing.patch('/api/v1/soaw/:soaw_id', {
    id: 'patchSoaw',
    summary: 'Change a statement of architecture work',
    description:
      '`document_info`, `version_history` and `sections` are replaced completely. A document in review has to be recalled first (409). A signed one cannot be changed (403 `document_signed`), only revised.',
    body: SoawPatchBody,
    responses: ok('The statement', SoawSchema, 'ETag'),
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: ({ ctx, params, body }) =>
      patchSoaw(ctx, params.soaw_id, body as Parameters<typeof patchSoaw>[2]),
  });

  managing.delete('/api/v1/soaw/:soaw_id', {
    id: 'deleteSoaw',
    summary: 'Delete a statement of architecture work',
    description: 'In any state; its other revisions remain.',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteSoaw(ctx, params.soaw_id),
  });

  reading.get('/api/v1/soaw/:soaw_id/export', {
    id: 'exportSoaw',
    summary: 'Export a statement as a file',
    description:
      'With title block, version history, sections that are not hidden, tables, and signatures with their hash.',
    query: object({
      format: Choice(['docx', 'pdf'], {
        default: 'docx',
        description: 'The format of the file',
      }),
    }),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    responses: {
      200: {
        description: 'The file',
        schema: FileContent,
        mediaType: Object.values(documentMedia),
        headers: ['Content-Disposition'],
      },
    },
    handler: async ({ ctx, params, query, reply }) => {
      const file = await readSoawFile(ctx, params.soaw_id);
      return await sendFile(reply, { ...file, format: query.format }, ctx.caller.userId);
    },
  });

  registerSigning(app, {
    kind: soawKind,
    tag,
    url,
    parameter: 'soaw_id',
    name: 'Soaw',
    one: 'statement of architecture work',
    short: 'statement',
    schema: SoawSchema,
    listed,
    sorts: soawSorts,
    revise: reviseSoaw,
  });
}
