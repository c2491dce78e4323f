import { Readable } from 'node:stream';
import fastifyMultipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type StoredContent, storeContent } from '../domain/kernel/files/files.store.ts';
import type { BlobStore } from '../platform/blobs.ts';
import { EstateError, invalidField } from '../platform/errors.ts';
import { applyIdempotencyKey } from './plugins/idempotency.ts';
import { registerValidation } from './plugins/validation.ts';
import type { App } from './types.ts';

export const FORM = 'multipart/form-data';
/** Bytes of a form besides its file. */
export const FORM_OVERHEAD = 64 * 1024;

/**
 * Registers operations with uploads in a plugin with its own body parsers: bodies of the given media types are not parsed,
 * but forms or streams.
 */
export async function registerUploads(
  app: App,
  types: readonly string[],
  register: (uploads: App) => void,
): Promise<void> {
  await app.register(async (scope) => {
    const uploads = scope as unknown as App;
    // a plugin does not inherit the validator compiler
    registerValidation(uploads);
    uploads.removeAllContentTypeParsers();
    for (const type of types) {
      if (type === FORM) await uploads.register(fastifyMultipart);
      else uploads.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
    }
    register(uploads);
  });
}

interface UploadForm<T> {
  /** Maximum size of the file. */
  maxBytes: number;
  /** The names of text fields that the form may have. */
  fields?: readonly string[];
  read(part: MultipartFile): Promise<T>;
  /** Called with the file of a form that is refused. */
  discard?(file: T): Promise<void>;
}

/**
 * Reads a form with one `file`, and text fields.
 * @throws EstateError `unsupported_media_type`, `validation_failed`, and errors of `read`.
 */
export async function receiveForm<T>(
  request: FastifyRequest,
  { maxBytes, fields = [], read, discard }: UploadForm<T>,
): Promise<{ file: T; values: Record<string, string> }> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', `Send a form (${FORM}) with one file.`);
  }
  let file: T | undefined;
  const values: Record<string, string> = {};
  try {
    const limits = { fileSize: maxBytes + 1, files: 2, fields: 10, fieldSize: 10_000 };
    for await (const part of request.parts({ limits })) {
      const { type, fieldname } = part;
      if (type === 'file' && fieldname === 'file' && file === undefined) file = await read(part);
      else if (type === 'field' && fields.includes(fieldname) && !Object.hasOwn(values, fieldname)) {
        values[fieldname] = String(part.value);
      } else {
        if (type === 'file') part.file.resume();
        const members = ['one `file`', ...fields].join(', ');
        throw invalidField(fieldname, 'unknown_field', `the form has ${members} and nothing else`);
      }
    }
    if (file === undefined) throw invalidField('file', 'required', 'the form has no file');
    return { file, values };
  } catch (error) {
    if (file !== undefined) await discard?.(file);
    throw error;
  }
}

/** Reads the file of a form with one file into memory. @throws EstateError like {@link receiveForm}, `payload_too_large`. */
export async function receiveBuffer(request: FastifyRequest, maxBytes: number): Promise<Buffer> {
  return (await receiveForm(request, { maxBytes, read: (part) => readBuffer(part, maxBytes) })).file;
}

/** Reads a file into memory. @throws EstateError `payload_too_large`. */
export async function readBuffer(part: MultipartFile, maxBytes: number): Promise<Buffer> {
  const content = await part.toBuffer();
  if (content.length > maxBytes) throw tooLarge(maxBytes);
  return content;
}

/** Streams a file to the storage. @throws EstateError `payload_too_large`. */
export async function storeUpload(
  blobs: BlobStore,
  content: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<StoredContent> {
  async function* limited() {
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  }
  return await storeContent(blobs, Readable.from(limited(), { objectMode: false }));
}

const tooLarge = (maxBytes: number): EstateError =>
  new EstateError('payload_too_large', `A file can have at most ${maxBytes} bytes.`);

/**
 * Executes a command for a stored file, once for each `Idempotency-Key`. The file is removed if the command is refused, or
 * if the request is a repetition.
 * @param hash of the request, with its file.
 */
export async function useUpload<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { blobs, content, hash = content.sha256 }: { blobs: BlobStore; content: StoredContent; hash?: string },
  act: () => Promise<T>,
): Promise<T | FastifyReply> {
  try {
    if (await applyIdempotencyKey(request, reply, hash)) {
      await blobs.remove(content.id);
      return reply;
    }
    return await act();
  } catch (error) {
    // after any other error the command may have been committed
    if (error instanceof EstateError) await blobs.remove(content.id);
    throw error;
  }
}
