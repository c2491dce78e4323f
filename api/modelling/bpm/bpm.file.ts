import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import type { DiagramFile } from '../../../domain/modelling/bpm/diagrams.queries.ts';
import { sha256 } from '../../../platform/crypto.ts';

/** Sends a model or image as an attachment that cannot run scripts. */
export function sendDiagramFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DiagramFile,
  kind: { ending: string; mediaType: string },
): FastifyReply {
  const etag = `"${sha256(`${kind.ending} ${file.sha256Of}`)}"`;
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match'];
  if (known !== undefined && matchesEtag(etag, parseEtags(known))) return reply.code(304).send();
  return reply
    .headers({
      // overrides an encoding declaration in the file (RFC 7303, 3)
      'content-type': `${kind.mediaType}; charset=${file.encoding}`,
      'content-disposition': contentDisposition(`${file.name}.${kind.ending}`),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    .send(file.content);
}
