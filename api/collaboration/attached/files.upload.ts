import type { FastifyRequest } from 'fastify';
import { MAX_ATTACHMENT } from '../../../domain/collaboration/files/files.types.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';

/** The fields of an upload form. */
export interface FileUpload {
  name: string;
  content: Buffer;
  category: string | null;
}

/**
 * Reads an upload form into memory: one `file` of limited size, and optionally a `category`.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
export async function receiveFile(request: FastifyRequest): Promise<FileUpload> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send a form (multipart/form-data) with one file.');
  }
  let file: { name: string; content: Buffer } | undefined;
  let category: string | null | undefined;
  const limits = { fileSize: MAX_ATTACHMENT + 1, files: 2, fields: 10, fieldSize: 10_000 };
  for await (const part of request.parts({ limits })) {
    if (part.type === 'file' && part.fieldname === 'file' && !file) {
      const content = await part.toBuffer();
      if (content.length > MAX_ATTACHMENT) throw tooLarge();
      file = { name: part.filename ?? '', content };
    } else if (part.type === 'field' && part.fieldname === 'category' && category === undefined) {
      category = String(part.value) || null;
    } else {
      if (part.type === 'file') part.file.resume();
      throw invalidField(
        part.fieldname,
        'unknown_field',
        'the form has one `file` and optionally a `category`',
      );
    }
  }
  if (!file) throw invalidField('file', 'required', 'the form has no file');
  return { ...file, category: category ?? null };
}

function tooLarge(): EstateError {
  return new EstateError('payload_too_large', `A file can have at most ${MAX_ATTACHMENT} bytes.`);
}
