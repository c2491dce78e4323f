import type { FastifyReply } from 'fastify';
import type { ShownResource } from '../../../domain/access/scim/scim.resources.ts';

export const SCIM_MEDIA_TYPE = 'application/scim+json';

interface Reference {
  $ref?: string;
}
interface Described {
  meta?: { location?: string };
  Resources?: Described[];
  members?: Reference[];
  groups?: Reference[];
}

/** The URL of the SCIM endpoints as the client sees it. */
const rootOf = ({ request: { protocol, host } }: FastifyReply): string => `${protocol}://${host}/scim/v2`;

/** Adds absolute URLs in `meta.location` (RFC 7643, 3.1) and `$ref`. */
function located(root: string, described: Described): Described {
  const { meta, Resources, members, groups } = described;
  const referring = (items: Reference[]) =>
    items.map((item) => (item.$ref === undefined ? item : { ...item, $ref: `${root}/${item.$ref}` }));
  return {
    ...described,
    ...(members && { members: referring(members) }),
    ...(groups && { groups: referring(groups) }),
    ...(meta?.location !== undefined && { meta: { ...meta, location: `${root}/${meta.location}` } }),
    ...(Resources && { Resources: Resources.map((one) => located(root, one)) }),
  };
}

/** Sends a SCIM body (RFC 7644). */
export function sendScim(reply: FastifyReply, body: object): FastifyReply {
  return reply
    .header('content-type', `${SCIM_MEDIA_TYPE}; charset=utf-8`)
    .serializer(String)
    .send(JSON.stringify(located(rootOf(reply), body)));
}

/** Sends one resource with its version. */
export function sendScimResource(
  reply: FastifyReply,
  { version, location, body }: ShownResource,
): FastifyReply {
  return sendScim(reply.header('etag', version).header('location', `${rootOf(reply)}/${location}`), body);
}
