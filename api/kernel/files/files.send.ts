import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import type { StoredFile } from '../../../domain/kernel/files/files.store.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { ResponseHeader } from '../../openapi/headers.ts';

/** The headers of a download, for the API's description. */
export const fileHeaders: ResponseHeader[] = ['Content-Disposition', 'ETag', 'Repr-Digest'];

/** Bytes of a file, both included. */
interface ByteRange {
  start: number;
  end: number;
}

export interface FileSource {
  open(file: StoredFile, range: ByteRange | undefined): Promise<Readable>;
  /** Called after the content was found and before anything is sent. */
  opened?(file: StoredFile, range: ByteRange | undefined): Promise<void>;
}

/** Sends a stored file, or a range of it, as an attachment that cannot run scripts. @throws EstateError `range_not_satisfiable`. */
export async function sendStoredFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StoredFile,
  source: FileSource,
): Promise<FastifyReply> {
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(etagOf(file), parseEtags(known))) {
    return reply.code(304).header('etag', etagOf(file)).send();
  }
  const range = requestedRange(request, file);
  if (request.method === 'HEAD') return describe(reply, file, range).send(Readable.from([]));
  const content = await source.open(file, range);
  try {
    await source.opened?.(file, range);
  } catch (error) {
    content.destroy();
    throw error;
  }
  return describe(reply, file, range).send(content);
}

function etagOf(file: StoredFile): string {
  return `"${file.sha256}"`;
}

function describe(reply: FastifyReply, file: StoredFile, range: ByteRange | undefined): FastifyReply {
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size}`);
  return reply.headers({
    etag: etagOf(file),
    'content-type': file.mediaType,
    'content-length': range ? range.end - range.start + 1 : file.size,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': contentDisposition(file.name),
    // prevents scripts in the file from running
    'content-security-policy': "default-src 'none'; sandbox",
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  });
}

/**
 * The range of a `Range` header. Undefined (the complete file) without the header, for several ranges or other units, and
 * if `If-Range` names another state (RFC 9110, 14.2 and 13.1.5).
 * @throws EstateError `range_not_satisfiable`.
 */
function requestedRange(request: FastifyRequest, file: StoredFile): ByteRange | undefined {
  const header = request.headers.range;
  if (header === undefined) return undefined;
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etagOf(file)) return undefined;
  const ranges = parseRange(file.size, header);
  if (ranges === -1) {
    throw new EstateError('range_not_satisfiable', `The file has ${file.size} bytes.`, {
      headers: { 'content-range': `bytes */${file.size}` },
    });
  }
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}
