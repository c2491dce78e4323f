import fastifyMultipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  importAdrs,
  MAX_FILE,
  MAX_FILES,
  type RecordFile,
  requireFiles,
} from '../../../domain/governance/adr/adr.commands.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { readAdrFile } from '../../../reports/governance/documents/document.adr.ts';
import { documentMedia, sendFile } from '../../kernel/files/files.documents.ts';
import { routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { FileContent, ImportedAdrsSchema, RecordForm } from '../../schemas/decision-files.ts';
import type { App } from '../../types.ts';

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
      format: Type.Union([Type.Literal('docx'), Type.Literal('pdf'), Type.Literal('md')], {
        default: 'docx',
        description: 'The format of the file',
      }),
    }),
    errors: ['query_too_heavy', 'too_many_requests', 'unavailable'],
    answers: {
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

  // a plugin with its own body parsers, which needs the validator compiler set again
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Architecture decisions' });
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    await uploads.register(fastifyMultipart);
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
      answers: { 201: { description: 'The created drafts', schema: ImportedAdrsSchema } },
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
    const content = await part.toBuffer();
    if (content.length > MAX_FILE) {
      throw new EstateError('payload_too_large', `A file can have at most ${MAX_FILE} bytes.`);
    }
    files.push({ name: part.filename ?? '', content });
    if (files.length > MAX_FILES) throw invalidField('file', 'too_many', `are more than ${MAX_FILES} files`);
  }
  return files;
}
