import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  createAdr,
  deleteAdr,
  duplicateAdr,
  importAdrs,
  MAX_FILE,
  MAX_FILES,
  patchAdr,
  type RecordFile,
  requireFiles,
  reviseAdr,
} from '../../../domain/governance/adr/adr.commands.ts';
import {
  AdrEntries,
  adrFilters,
  adrKind,
  adrSorts,
  adrStatuses,
  cardAdrFilters,
  listAdrs,
  listCardAdrs,
  MAX_ENTRIES,
  MAX_TEXT,
  MAX_TITLE,
} from '../../../domain/governance/adr/adr.kind.ts';
import { linkAdrCard, unlinkAdrCard } from '../../../domain/governance/adr/adr.links.ts';
import { readRecord } from '../../../domain/governance/signatures/signatures.records.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  itemComponent,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { readAdrFile } from '../../../reports/governance/documents/document.adr.ts';
import { documentMedia, sendFile } from '../../kernel/files/files.documents.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { bodiesOf, listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, readBuffer, registerUploads } from '../../uploads.ts';
import {
  FileContent,
  IntegrityMember,
  RejectionMember,
  signedMembers,
} from '../signatures/signatures.schemas.ts';
import { registerSigning } from '../signatures/signing.routes.ts';

const RecordForm = object({
  file: Type.Array(Type.String({ format: 'binary' }), {
    minItems: 1,
    description: 'One part for each file',
  }),
});

const ImportedAdrsSchema = component('ImportedAdrs', {
  created: Count,
  items: Type.Array(
    object({
      file: Type.String(),
      id: Uuid,
      reference_number: Type.String(),
      title: Type.String(),
      notes: Type.Array(Type.String(), { description: 'What could not be imported' }),
    }),
  ),
});

const Status = Choice(adrStatuses);
const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE });
const Text = (description: string) => Nullable(Type.String({ maxLength: MAX_TEXT, description }));
const Texts = (description: string) => Type.Array(AdrEntries.items, { maxItems: MAX_ENTRIES, description });

const texts = {
  context: Text('Context and problem statement, in Markdown like all texts'),
  decision_drivers: Text('Forces and concerns'),
  alternatives_considered: Text('The considered options'),
  pros_and_cons: Text('Pros and cons of each option'),
  consequences: Text('Good and bad consequences'),
  confirmation: Text('How compliance with the decision is confirmed'),
  more_information: Text('Evidence, agreements, and when to review it'),
  related_decisions: Texts('Numbers, ids or URLs of other decisions'),
  decision_makers: Texts('The people who decided; `signatories` sign it'),
  consulted: Texts('The people who were consulted'),
  informed: Texts('Who is informed'),
};
const Decision = Text('The outcome: the chosen option and why');

const adrMembers = {
  id: Uuid,
  reference_number: Type.String({
    pattern: '^ADR-\\d{3,}$',
    examples: ['ADR-007'],
    description: 'The same for all revisions of a decision',
  }),
  title: Type.String(),
  status: Status,
  decision: Decision,
  ...signedMembers,
  linked_cards: Type.Array(object({ id: Uuid, name: Type.String(), type: Type.String() }), {
    description: 'Linked cards that the caller sees',
  }),
};
const AdrSchema = component('Adr', {
  ...adrMembers,
  ...texts,
  rejection: RejectionMember,
  integrity: IntegrityMember,
});
/** A decision in a list, with the requested members. */
const AdrItemSchema = itemComponent('AdrItem', adrMembers);

const { related_decisions, decision_makers, consulted, informed, ...plain } = texts;
const bodies = bodiesOf(
  { title: Title },
  {
    ...plain,
    decision: Decision,
    related_decisions: Nullable(related_decisions),
    decision_makers: Nullable(decision_makers),
    consulted: Nullable(consulted),
    informed: Nullable(informed),
  },
);
const AdrPatchBody = object({
  ...bodies.patch.properties,
  status: Clearable(
    Type.String({ description: 'Refused with `use_operation` if it differs from the current one' }),
  ),
});
const AdrCardBody = object({ card_id: Uuid });

const tag = 'Architecture decisions';
const url = '/api/v1/adr';
const listed = listResponse(AdrItemSchema);

/** Architecture decision records and their links to cards. */
export function registerAdrRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Architecture decisions' });

  routes.get(url, {
    id: 'listAdrs',
    summary: 'List architecture decisions',
    description: '`search` searches number, title and all texts.',
    permission: 'adr.view',
    query: listQuery(adrSorts, 'created_at', adrFilters),
    responses: ok('Decisions, newest first', listed),
    handler: ({ ctx, query }) => listAdrs(ctx, query),
  });

  routes.post(url, {
    id: 'createAdr',
    summary: 'Create an architecture decision as a draft',
    description: 'It gets the number after the highest.',
    permission: 'adr.manage',
    body: bodies.create,
    responses: created('The decision', AdrSchema),
    handler: ({ ctx, body }) => createAdr(ctx, body),
  });

  routes.get('/api/v1/adr/by-card/:card_id', {
    id: 'listCardAdrs',
    summary: 'List the decisions that a card is linked to',
    permission: 'adr.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(adrSorts, 'created_at', cardAdrFilters),
    responses: ok('Decisions, newest first', listed),
    handler: ({ ctx, params, query }) => listCardAdrs(ctx, params.card_id, query),
  });

  routes.get('/api/v1/adr/:adr_id', {
    id: 'getAdr',
    summary: 'Read an architecture decision',
    permission: 'adr.view',
    responses: ok('The decision', AdrSchema),
    handler: ({ ctx, params }) => readRecord(ctx, adrKind, params.adr_id),
  });

  routes.patch('/api/v1/adr/:adr_id', {
    id: 'patchAdr',
    summary: 'Change a draft of a decision',
    description:
      'A document in review has to be recalled first (409). A signed one cannot be changed (403 `document_signed`), only revised.',
    permission: 'adr.manage',
    body: AdrPatchBody,
    responses: ok('The decision', AdrSchema, 'ETag'),
    errors: ['document_signed', 'wrong_state', 'use_operation'],
    handler: ({ ctx, params, body }) => patchAdr(ctx, params.adr_id, body as Parameters<typeof patchAdr>[2]),
  });

  routes.delete('/api/v1/adr/:adr_id', {
    id: 'deleteAdr',
    summary: 'Delete a draft of a decision',
    description: "The caller's drafts with `adr.manage`, all drafts with `adr.delete`.",
    permission: ['adr.manage', 'adr.delete'],
    permissionNote: "adr.delete for others' records",
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteAdr(ctx, params.adr_id),
  });

  routes.post('/api/v1/adr/:adr_id/duplicate', {
    id: 'duplicateAdr',
    summary: 'Copy a decision to a draft with a new number',
    description: 'With its texts and the cards that it is linked to.',
    permission: 'adr.manage',
    responses: created('The copy', AdrSchema),
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
    schema: AdrSchema,
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
    body: AdrCardBody,
    responses: created('The decision', AdrSchema),
    errors: ['duplicate_link', 'conflict'],
    handler: ({ ctx, params, body }) => linkAdrCard(ctx, params.adr_id, body.card_id),
  });

  linking.delete('/api/v1/adr/:adr_id/cards/:card_id', {
    id: 'unlinkAdrCard',
    summary: 'Remove the link of a decision to a card',
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unlinkAdrCard(ctx, params.adr_id, params.card_id),
  });
}

const MARKDOWN = 'text/markdown';
/** Maximum size of all files of a request. */
const MAX_BYTES = 10 * 1024 * 1024;
const formats = { ...documentMedia, md: MARKDOWN };

/** Export of decisions as DOCX, PDF and Markdown, and import from Markdown. */
export async function registerAdrFileRoutes(app: App): Promise<void> {
  const routes = routesOf(app, { tag: 'Architecture decisions' });

  routes.get('/api/v1/adr/:adr_id/export', {
    id: 'exportAdr',
    summary: 'Export a decision as a file',
    description:
      '`docx` and `pdf` with title block, sections, linked cards and signatures with their hash; `md` with the sections of MADR 4, which can be imported without loss.',
    permission: 'adr.view',
    query: object({
      format: Choice(['docx', 'pdf', 'md'], {
        default: 'docx',
        description: 'The format of the file',
      }),
    }),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    responses: {
      200: {
        description: 'The file',
        schema: FileContent,
        mediaType: Object.values(formats),
        headers: ['Content-Disposition'],
      },
    },
    handler: async ({ ctx, params, query, reply }) => {
      const { name, paper, markdown } = await readAdrFile(ctx, params.adr_id);
      return await sendFile(reply, { name, format: query.format, paper, markdown }, ctx.caller.userId);
    },
  });

  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Architecture decisions' });
    uploads.addContentTypeParser(MARKDOWN, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    routes.post('/api/v1/adr/import', {
      id: 'importAdrs',
      summary: 'Import decisions from Markdown files',
      description: `MADR in its versions, Nygard's form, and other files with a title: one file as the body, or a form with up to ${MAX_FILES}, of at most 1 MiB each. All become drafts with the next numbers, or none does. \`notes\` contain what could not be imported.`,
      permission: 'adr.manage',
      consumes: {
        [MARKDOWN]: {
          schema: Type.String(),
          example: '# Take orders in one place\n\n## Context and Problem Statement\n\nFour systems.\n',
        },
        'multipart/form-data': { schema: RecordForm },
      },
      bodyLimit: MAX_BYTES,
      ownIdempotency: true,
      responses: { 201: { description: 'The created drafts', schema: ImportedAdrsSchema } },
      handler: async ({ ctx, body, request, reply }) => {
        const files = Buffer.isBuffer(body) ? [{ name: '', content: body }] : await receiveRecords(request);
        requireFiles(files);
        const sent = sha256(JSON.stringify(files.map(({ name, content }) => [name, sha256(content)])));
        if (await applyIdempotencyKey(request, reply, sent)) return reply;
        const items = await importAdrs(ctx, files);
        return { created: items.length, items };
      },
    });
  });
}

/** Reads the files of a form. @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`. */
async function receiveRecords(request: FastifyRequest): Promise<RecordFile[]> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send text/markdown, or a form (multipart/form-data).');
  }
  const files: RecordFile[] = [];
  const limits = { fileSize: MAX_FILE + 1, files: MAX_FILES + 1, fields: 1, fieldSize: 1_000 };
  for await (const part of request.parts({ limits })) {
    if (part.type !== 'file' || part.fieldname !== 'file') {
      if (part.type === 'file') part.file.resume();
      throw invalidField(part.fieldname, 'unknown_field', 'the form must only have files as `file`');
    }
    files.push({ name: part.filename ?? '', content: await readBuffer(part, MAX_FILE) });
    if (files.length > MAX_FILES) throw invalidField('file', 'too_many', `are more than ${MAX_FILES} files`);
  }
  return files;
}
