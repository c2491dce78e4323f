import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { ImportOptions } from '../../../domain/exchange/imports/imports.start.ts';
import { type StoredContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';

/** Maximum size of a file, in bytes: 512 MiB. */
export const MAX_UPLOAD = 512 * 1024 * 1024;

export interface Upload {
  content: StoredContent;
  format: ImportOptions['format'];
}

/** Media types of a body that is the file itself. */
export const rawTypes: Record<string, ImportOptions['format']> = {
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
export async function receiveUpload(request: FastifyRequest, blobs: BlobStore): Promise<Upload> {
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
