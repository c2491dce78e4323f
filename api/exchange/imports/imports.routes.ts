import { Readable } from 'node:stream';
import fastifyMultipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { importOptions } from '../../../domain/exchange/imports/imports.job.ts';
import { requireImportRights } from '../../../domain/exchange/imports/imports.rights.ts';
import { type ImportOptions, startImport } from '../../../domain/exchange/imports/imports.run.ts';
import { type StoredContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import { registerValidation } from '../../plugins/validation.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';

/** Maximum size of a file, in bytes: 512 MiB. */
const MAX_UPLOAD = 512 * 1024 * 1024;

interface Upload {
  content: StoredContent;
  format: ImportOptions['format'];
}

/** Media types of a body that is the file itself. */
const rawTypes: Record<string, ImportOptions['format']> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
};

const formatsByEnding = new Map<string | undefined, ImportOptions['format']>([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

/**
 * Streams the request's file to the storage, from a raw body or the `file` of a form.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
async function receiveUpload(request: FastifyRequest, blobs: BlobStore): Promise<Upload> {
  if (request.isMultipart()) return await receiveForm(request, blobs);
  const { type, charset } = mediaType(request.headers['content-type']);
  const format = rawTypes[type];
  if (!format) throw unsupported();
  requireUtf8(charset);
  return { content: await storeLimited(blobs, request.body as Readable), format };
}

async function receiveForm(request: FastifyRequest, blobs: BlobStore): Promise<Upload> {
  let upload: Upload | undefined;
  try {
    for await (const part of request.parts({ limits: { fileSize: MAX_UPLOAD + 1 } })) {
      if (part.type !== 'file' || part.fieldname !== 'file' || upload) {
        if (part.type === 'file') part.file.resume();
        throw invalidField(
          part.fieldname,
          'unknown_field',
          'the form must have one part, the file as `file`',
        );
      }
      const { type, charset } = mediaType(part.mimetype);
      requireUtf8(charset);
      const ending = /\.([a-z]+)$/i.exec(part.filename ?? '')?.[1]?.toLowerCase();
      const format = rawTypes[type] ?? formatsByEnding.get(ending);
      if (!format) {
        part.file.resume();
        throw unsupported();
      }
      upload = { content: await storeLimited(blobs, part.file), format };
    }
  } catch (error) {
    if (upload) await blobs.remove(upload.content.id);
    throw error;
  }
  if (!upload) throw invalidField('file', 'required', 'the form has no file');
  return upload;
}

function mediaType(header: string | undefined): { type: string; charset: string | undefined } {
  const [type, ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return { type: type!, charset: charset?.slice('charset='.length).replaceAll('"', '') };
}

function requireUtf8(charset: string | undefined): void {
  if (charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset)) return;
  throw new EstateError('unsupported_media_type', `The file must be UTF-8, not ${charset}.`);
}

function unsupported(): EstateError {
  return new EstateError(
    'unsupported_media_type',
    'Send text/csv or application/x-ndjson, or a form with one file of these types.',
  );
}

async function storeLimited(blobs: BlobStore, stream: Readable): Promise<StoredContent> {
  async function* limited() {
    let size = 0;
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > MAX_UPLOAD) {
        throw new EstateError('payload_too_large', `A file can have at most ${MAX_UPLOAD} bytes.`);
      }
      yield chunk;
    }
  }
  return await storeContent(blobs, Readable.from(limited(), { objectMode: false }));
}

/** How an uploaded file is imported. */
const ImportQuery = object(importOptions);

const cards = `type,external_id,name,lifecycle.active,attributes.businessCriticality
Application,APP-1,Payroll,2020-01-01,missionCritical
`;
const cardLine = '{"type":"Application","external_id":"APP-1","name":"Payroll"}\n';

/** The import of files as jobs. */
export async function registerImportRoutes(app: App, { blobs }: Services): Promise<void> {
  // a plugin with its own body parsers: files are streamed to the storage
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    const routes = routesOf(uploads, { tag: 'Imports and exports' });
    // a plugin does not inherit the validator compiler
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    for (const type of Object.keys(rawTypes)) {
      uploads.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
    }
    await uploads.register(fastifyMultipart);

    routes.post('/api/v1/imports', {
      id: 'startImport',
      summary: 'Import cards or relations from a file, as a job',
      description:
        'CSV or NDJSON. Invalid rows are skipped, unless `atomic` is true. The job’s `counts` are `total`, `created`, `updated`, `unchanged` and `failed`; its result file is the report as NDJSON with `line`, `external_id`, `outcome` and `errors`.',
      permission: 'login',
      permissionNote:
        'inventory.create for cards; inventory.edit for cards in the mode upsert; relations.manage for relations',
      query: ImportQuery,
      consumes: {
        'text/csv': { example: cards },
        'application/x-ndjson': { example: cardLine },
        'multipart/form-data': {},
      },
      bodyLimit: MAX_UPLOAD,
      ownIdempotency: true,
      answers: { 202: { description: 'The job has been started', schema: StartedJobSchema } },
      handler: async ({ ctx, query, request, reply }) => {
        requireImportRights(ctx, query);
        const { content, format } = await receiveUpload(request, blobs);
        try {
          if (await applyIdempotencyKey(request, reply, content.sha256)) {
            await blobs.remove(content.id);
            return reply;
          }
          const job = await startImport(ctx, blobs, content, { ...query, format });
          reply.code(202).header('location', job.links.self);
          return job;
        } catch (error) {
          // after any other error the job may have been committed
          if (error instanceof EstateError) await blobs.remove(content.id);
          throw error;
        }
      },
    });
  });
}
