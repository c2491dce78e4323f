import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { archiveLimits } from '../../../domain/app/workspace/workspace.archive.ts';
import { type StoredContent, storeContent } from '../../../domain/kernel/files/files.store.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';

export interface ArchiveUpload {
  content: StoredContent;
  filename: string;
}

const LOCAL_HEADER = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

/**
 * Streams the `file` of a form to the storage.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed` for a file without the zip signature.
 */
export async function receiveArchive(request: FastifyRequest, blobs: BlobStore): Promise<ArchiveUpload> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send a form (multipart/form-data) with one file.');
  }
  let upload: ArchiveUpload | undefined;
  try {
    for await (const part of request.parts({
      limits: { fileSize: archiveLimits.packed + 1, files: 2, fields: 10 },
    })) {
      if (part.type !== 'file' || part.fieldname !== 'file' || upload) {
        if (part.type === 'file') part.file.resume();
        throw invalidField(
          part.fieldname,
          'unknown_field',
          'the form must have one part, the archive as `file`',
        );
      }
      const filename = (part.filename || 'workspace.zip').replace(/[^\p{L}\p{N}._ -]/gu, '_').slice(0, 200);
      upload = { content: await storeZip(blobs, part.file), filename };
    }
  } catch (error) {
    if (upload) await blobs.remove(upload.content.id);
    throw error;
  }
  if (!upload) throw invalidField('file', 'required', 'the form has no file');
  return upload;
}

async function storeZip(blobs: BlobStore, stream: Readable): Promise<StoredContent> {
  async function* checked() {
    let size = 0;
    let head = Buffer.alloc(0);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > archiveLimits.packed) {
        throw new EstateError(
          'payload_too_large',
          `An archive can have at most ${archiveLimits.packed} bytes.`,
        );
      }
      if (head.length < LOCAL_HEADER.length) {
        head = Buffer.concat([head, chunk]).subarray(0, LOCAL_HEADER.length);
        if (!LOCAL_HEADER.subarray(0, head.length).equals(head)) throw notZip();
      }
      yield chunk;
    }
    if (head.length < LOCAL_HEADER.length) throw notZip();
  }
  return await storeContent(blobs, Readable.from(checked(), { objectMode: false }));
}

const notZip = (): EstateError => invalidField('file', 'bad_archive', 'is not a zip file');
