import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import Type from 'typebox';
import { matchesEtag, parseEtags } from '../../domain/etag.ts';
import { openContent, type StoredFile } from '../../domain/files/files.store.ts';
import { missingResult, noteDownload, resultFile } from '../../domain/jobs/jobs.download.ts';
import type { Services } from '../../domain/services.ts';
import { EstateError } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { IdParams } from '../schemas/common.ts';
import type { App } from '../types.ts';

const mediaType = [
  'text/csv',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.apache.parquet',
  'application/octet-stream',
];
const File = Type.String({ contentMediaType: 'application/octet-stream' });

/** Bytes of a file, both included. */
interface ByteRange {
  start: number;
  end: number;
}

/** The file that a job has made, whole or in part. */
export function registerDownloadRoute(app: App, { blobs }: Services): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/jobs/:id/result',
    id: 'downloadJobResult',
    tag: 'Jobs',
    summary: 'Download the file that a job has made',
    description:
      'For the owner of the job. A download that was cut off goes on with `Range` and, to be sure that it is still the same file, `If-Range` with its ETag. `Repr-Digest` is the SHA-256 of the whole file.',
    permission: 'login',
    permissionNote: "admin.export_workspace for others' files, costs.view for files that may hold costs",
    params: IdParams,
    answers: {
      200: {
        description: 'The file',
        schema: File,
        mediaType,
        headers: ['Content-Disposition', 'ETag', 'Repr-Digest'],
      },
      206: {
        description: 'The requested bytes',
        schema: File,
        mediaType,
        headers: ['Content-Disposition', 'ETag', 'Repr-Digest'],
      },
    },
    headers: ['Range', 'If-None-Match'],
    errors: ['job_result_missing', 'range_not_satisfiable'],
    handler: async ({ ctx, params, request, reply }) => {
      const file = await resultFile(ctx, params.id);
      const known = request.headers['if-none-match'];
      if (known !== undefined && matchesEtag(etagOf(file), parseEtags(known))) {
        return reply.code(304).header('etag', etagOf(file)).send();
      }
      const range = requestedRange(request, file);
      if (request.method === 'HEAD') return describe(reply, file, range).send(Readable.from([]));
      const content = await openContent(blobs, file.id, range).catch((error) => {
        throw error instanceof EstateError ? missingResult(params.id, 'succeeded') : error;
      });
      try {
        await noteDownload(ctx, params.id, file, range);
      } catch (error) {
        content.destroy();
        throw error;
      }
      return describe(reply, file, range).send(content);
    },
  });
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
    // whatever stands in the file, it runs nothing
    'content-security-policy': 'sandbox',
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  });
}

/**
 * The one range of a `Range` header. Undefined, which means the whole file, without one, for several ranges or other
 * units, and when `If-Range` names another state (RFC 9110, 14.2 and 13.1.5).
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
