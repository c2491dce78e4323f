import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { MigrationInput } from '../../../domain/exchange/migration/migration.commands.ts';
import { requireExtension, requireSource } from '../../../domain/exchange/migration/sources.ts';
import { type StoredContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';

/** Maximum size of a file, in bytes: 100 MiB. */
export const MAX_MIGRATION = 100 * 1024 * 1024;
const MAX_NAME = 200;
const MAX_FILE_NAME = 255;
const fields = ['source_key', 'name', 'include_archived'];

/** A received form, whose file is stored. */
export interface MigrationUpload {
  content: StoredContent;
  input: MigrationInput;
}

/**
 * Reads the form of an upload and streams its file to the storage; the file of a refused form is removed.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
export async function receiveMigration(request: FastifyRequest, blobs: BlobStore): Promise<MigrationUpload> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send a form (multipart/form-data) with one file.');
  }
  let file: { name: string; content: StoredContent } | undefined;
  const values: Record<string, string> = {};
  try {
    const limits = { fileSize: MAX_MIGRATION + 1, files: 2, fields: 10, fieldSize: 10_000 };
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file' && part.fieldname === 'file' && !file) {
        file = { name: cleanName(part.filename ?? ''), content: await storeLimited(blobs, part.file) };
      } else if (
        part.type === 'field' &&
        fields.includes(part.fieldname) &&
        !Object.hasOwn(values, part.fieldname)
      ) {
        values[part.fieldname] = String(part.value);
      } else {
        if (part.type === 'file') part.file.resume();
        throw invalidField(
          part.fieldname,
          'unknown_field',
          `the form has one \`file\`, ${fields.join(', ')}`,
        );
      }
    }
    if (!file) throw invalidField('file', 'required', 'the form has no file');
    return { content: file.content, input: inputOf(values, file) };
  } catch (error) {
    if (file) await blobs.remove(file.content.id);
    throw error;
  }
}

function inputOf(
  values: Record<string, string>,
  file: { name: string; content: StoredContent },
): MigrationInput {
  const faults: FieldError[] = [];
  const fault = (field: string, code: string, message: string) => faults.push({ field, code, message });
  const name = values.name?.trim() ?? '';
  if (name === '') fault('name', 'required', 'must not be blank');
  if (name.length > MAX_NAME) fault('name', 'too_long', `has more than ${MAX_NAME} characters`);
  if (name.includes('\0') || !name.isWellFormed()) fault('name', 'bad_text', 'contains invalid characters');
  if (values.source_key === undefined) fault('source_key', 'required', 'is required');
  const flag = values.include_archived ?? 'false';
  if (flag !== 'true' && flag !== 'false') fault('include_archived', 'wrong_type', 'must be true or false');
  if (file.content.size === 0) fault('file', 'empty', 'is empty');
  if (faults.length > 0) throw invalidFields(faults);
  const source = requireSource(values.source_key!);
  requireExtension(source, file.name);
  return { source: source.key, name, fileName: file.name, include_archived: flag === 'true' };
}

/** The file name of a path without characters that cannot be stored. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  return last
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .toWellFormed()
    .trim()
    .slice(-MAX_FILE_NAME);
}

async function storeLimited(blobs: BlobStore, stream: Readable): Promise<StoredContent> {
  async function* limited() {
    let size = 0;
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > MAX_MIGRATION) {
        throw new EstateError('payload_too_large', `A file can have at most ${MAX_MIGRATION} bytes.`);
      }
      yield chunk;
    }
  }
  return await storeContent(blobs, Readable.from(limited(), { objectMode: false }));
}
