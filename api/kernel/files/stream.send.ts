import type { FastifyReply } from 'fastify';
import type { StartedFile } from '../../../reports/kernel/formats/chunk-streams.ts';

/** Sends a file while it is being written. */
export function sendStream(reply: FastifyReply, started: StartedFile): FastifyReply {
  reply
    .header('content-type', started.mediaType)
    .header('content-disposition', `attachment; filename="${started.name}"`)
    .header('cache-control', 'no-store')
    .header('x-position', started.position);
  return reply.send(started.out);
}
