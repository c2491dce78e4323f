import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import { modelLimits } from '../../../domain/modelling/bpm/bpmn.model.ts';
import type { DiagramFile } from '../../../domain/modelling/bpm/diagrams.queries.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';

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

/**
 * Reads the form of an import: one `file`.
 * @throws EstateError `unsupported_media_type`, `payload_too_large`, `validation_failed`.
 */
export async function receiveModel(request: FastifyRequest): Promise<Buffer> {
  if (!request.isMultipart()) {
    throw new EstateError('unsupported_media_type', 'Send a form (multipart/form-data) with one file.');
  }
  let content: Buffer | undefined;
  const limits = { fileSize: modelLimits.bytes + 1, files: 2, fields: 2, fieldSize: 1_000 };
  for await (const part of request.parts({ limits })) {
    if (part.type !== 'file' || part.fieldname !== 'file' || content) {
      if (part.type === 'file') part.file.resume();
      throw invalidField(part.fieldname, 'unknown_field', 'the form must have one `file`');
    }
    content = await part.toBuffer();
  }
  if (!content) throw invalidField('file', 'required', 'the form has no file');
  return content;
}
