import type { FastifyReply } from 'fastify';
import type { ShownResource } from '../../domain/access/scim/scim.queries.ts';

export const SCIM_MEDIA_TYPE = 'application/scim+json';

interface Described {
  meta?: { location?: string };
  Resources?: Described[];
}

/** With absolute addresses in `meta.location` (RFC 7643, 3.1), as the client knows the service. */
function located(root: string, { meta, Resources, ...rest }: Described): Described {
  return {
    ...rest,
    ...(meta && {
      meta: meta.location === undefined ? meta : { ...meta, location: `${root}/${meta.location}` },
    }),
    ...(Resources && { Resources: Resources.map((one) => located(root, one)) }),
  };
}

/** Sends what RFC 7644 answers. */
export function sendScim(reply: FastifyReply, body: object): FastifyReply {
  const { protocol, host } = reply.request;
  return reply
    .header('content-type', `${SCIM_MEDIA_TYPE}; charset=utf-8`)
    .serializer(String)
    .send(JSON.stringify(located(`${protocol}://${host}/scim/v2`, body)));
}

/** Sends one resource with its version. */
export function sendScimResource(
  reply: FastifyReply,
  { version, location, body }: ShownResource,
): FastifyReply {
  return sendScim(reply.header('etag', version).header('location', `/scim/v2/${location}`), body);
}
