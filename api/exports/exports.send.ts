import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { StartedStream } from '../../reports/exchange/extraction/exports.stream.ts';

/** Sends a file while it is being written. */
export function sendStream(reply: FastifyReply, started: StartedStream, out: Readable): FastifyReply {
  reply
    .header('content-type', started.mediaType)
    .header('content-disposition', `attachment; filename="${started.name}"`)
    .header('cache-control', 'no-store')
    .header('x-position', started.position);
  return reply.send(out);
}
