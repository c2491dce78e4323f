import type { FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import {
  createAdr,
  deleteAdr,
  duplicateAdr,
  ImportedAdrsSchema,
  importAdrs,
  linkAdrCard,
  MAX_FILE,
  MAX_FILES,
  type RecordFile,
  requireFiles,
  unlinkAdrCard,
} from '../../../domain/governance/adr/adr.commands.ts';
import {
  Adr,
  type AdrInput,
  adrKind,
  adrList,
  adrLists,
  adrTexts,
  cardAdrList,
} from '../../../domain/governance/adr/adr.kind.ts';
import {
  Choice,
  Clearable,
  component,
  itemComponent,
  Nullable,
  OptionalText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { readAdrFile, readAdrsFile } from '../../../reports/governance/documents/signed-documents.ts';
import { sendFile } from '../../kernel/files/files.documents.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { bodiesOf, filterSchemas, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FORM, readBuffer, registerUploads } from '../../uploads.ts';
import { IntegrityMember, RejectionMember, signedMembers } from '../signatures/signatures.schemas.ts';
import { fileOf, registerSignedDocument } from '../signatures/signing.routes.ts';

const RecordForm = object({
  file: Type.Array(Type.String({ format: 'binary' }), {
    minItems: 1,
    description: 'One part for each file',
  }),
});

const columnsOf = (...names: (keyof typeof Adr.columns)[]): TProperties =>
  Object.fromEntries(names.map((name) => [name, Adr.columns[name]]));

const adrMembers = {
  id: Uuid,
  reference_number: Type.String({
    pattern: '^ADR-\\d{3,}$',
    examples: ['ADR-007'],
    description: 'The same for all revisions of a decision',
  }),
  ...columnsOf('title', 'status', 'decision'),
  ...signedMembers,
  linked_cards: Type.Array(object({ id: Uuid, name: Type.String(), type: Type.String() }), {
    description: 'Linked cards that the caller sees',
  }),
};
const AdrSchema = component('Adr', {
  ...adrMembers,
  ...columnsOf(...adrTexts, ...adrLists),
  rejection: RejectionMember,
  integrity: IntegrityMember,
});
/** A decision in a list, with the requested members. */
const AdrItemSchema = itemComponent('AdrItem', adrMembers);

const lists = Object.fromEntries(adrLists.map((name) => [name, Nullable(Adr.columns[name])]));
const bodies = bodiesOf(columnsOf('title'), { ...columnsOf(...adrTexts), ...lists });
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

  routes.list('listAdrs', url, adrList, {
    summary: 'List architecture decisions',
    description: '`search` searches number, title and all texts.',
    responses: ok('Decisions, newest first', listed),
  });

  routes.post('createAdr', url, {
    summary: 'Create an architecture decision as a draft',
    description: 'It gets the number after the highest.',
    permission: 'adr.manage',
    body: bodies.create,
    responses: created('The decision', AdrSchema),
    handler: ({ ctx, body }) => createAdr(ctx, body as AdrInput),
  });

  routes.get('exportAdrs', '/api/v1/adr/export', {
    summary: 'Export many decisions as one file',
    description:
      'Those that match, by number, with a table of contents. More than 100 decisions, or a million characters (`pdf`: 400,000), are refused.',
    permission: 'adr.view',
    query: object({
      ...filterSchemas(adrList),
      search: OptionalText(200, 'Words to look for'),
      format: Choice(['docx', 'pdf'], { default: 'docx', description: 'The format of the file' }),
    }),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    responses: fileOf('docx', 'pdf'),
    handler: async ({ ctx, query: { format, ...filters }, reply }) => {
      const document = await readAdrsFile(ctx, filters, format);
      return await sendFile(reply, { ...document, format }, ctx.caller.userId);
    },
  });

  routes.list('listCardAdrs', '/api/v1/adr/by-card/:card_id', cardAdrList, {
    summary: 'List the decisions that a card is linked to',
    permissionNote: 'inventory.view or card.view',
    responses: ok('Decisions, newest first', listed),
  });

  routes.delete('deleteAdr', '/api/v1/adr/:adr_id', {
    summary: 'Delete a draft of a decision',
    description: "The caller's drafts with `adr.manage`, all drafts with `adr.delete`.",
    permission: ['adr.manage', 'adr.delete'],
    permissionNote: "adr.delete for others' records",
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteAdr(ctx, params.adr_id),
  });

  routes.post('duplicateAdr', '/api/v1/adr/:adr_id/duplicate', {
    summary: 'Copy a decision to a draft with a new number',
    description: 'With its texts and the cards that it is linked to.',
    permission: 'adr.manage',
    responses: created('The copy', AdrSchema),
    handler: ({ ctx, params }) => duplicateAdr(ctx, params.adr_id),
  });

  registerSignedDocument(app, {
    kind: adrKind,
    tag,
    url,
    parameter: 'adr_id',
    name: 'Adr',
    one: 'an architecture decision',
    short: 'decision',
    schema: AdrSchema,
    patch: { body: AdrPatchBody, description: 'Texts that are null are cleared.' },
    export: {
      formats: ['docx', 'pdf', 'md'],
      description:
        '`docx` and `pdf` with title block, sections, linked cards and signatures with their hash; `md` with the sections of MADR 4, which can be imported without loss.',
      read: readAdrFile,
    },
    listed,
    sorts: adrList.sorts,
  });

  const linking = routesOf(app, {
    tag,
    permission: 'adr.view',
    permissionNote: 'adr.manage or card.manage_adr_links on the card',
  });

  linking.post('linkAdrCard', '/api/v1/adr/:adr_id/cards', {
    summary: 'Link a decision to a card',
    description: 'In any state, because links are not part of the signed content.',
    body: AdrCardBody,
    responses: created('The decision', AdrSchema),
    errors: ['duplicate_link', 'conflict'],
    handler: ({ ctx, params, body }) => linkAdrCard(ctx, params.adr_id, body.card_id),
  });

  linking.delete('unlinkAdrCard', '/api/v1/adr/:adr_id/cards/:card_id', {
    summary: 'Remove the link of a decision to a card',
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => unlinkAdrCard(ctx, params.adr_id, params.card_id),
  });
}

const MARKDOWN = 'text/markdown';
/** Maximum size of all files of a request. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Import of decisions from Markdown. */
export async function registerAdrFileRoutes(app: App): Promise<void> {
  await registerUploads(app, [FORM], (uploads) => {
    const routes = routesOf(uploads, { tag: 'Architecture decisions' });
    uploads.addContentTypeParser(MARKDOWN, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    routes.post('importAdrs', '/api/v1/adr/import', {
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
