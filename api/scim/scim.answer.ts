import type { FastifyReply } from 'fastify';
import type { ShownResource } from '../../domain/access/scim/scim.queries.ts';

export const SCIM_MEDIA_TYPE = 'application/scim+json';

/** Sends what RFC 7644 answers. */
export function sendScim(reply: FastifyReply, body: unknown): FastifyReply {
  return reply
    .header('content-type', `${SCIM_MEDIA_TYPE}; charset=utf-8`)
    .serializer(String)
    .send(JSON.stringify(body));
}

/** Sends one resource with its version. */
export function sendScimResource(
  reply: FastifyReply,
  { version, location, body }: ShownResource,
): FastifyReply {
  return sendScim(reply.header('etag', version).header('location', `/scim/v2/${location}`), body);
}
