import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { DocumentFormat, PrintDocument } from '../../../reports/kernel/documents/document.types.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import { clientGone } from '../../gone.ts';

/** The media types of documents. */
export const documentMedia: Record<DocumentFormat, string> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pdf: 'application/pdf',
};

/** A document and its format. */
export interface DocumentFile {
  /** Without the file extension. */
  name: string;
  format: DocumentFormat | 'md';
  paper: PrintDocument;
  markdown?: string;
}

/**
 * Renders a document in a worker thread and sends it as an attachment.
 * @throws EstateError `unavailable`, `too_many_requests`, `query_too_heavy`.
 */
export async function sendFile(
  reply: FastifyReply,
  { name, format, paper, markdown = '' }: DocumentFile,
  user: string | null,
): Promise<FastifyReply> {
  const bytes =
    format === 'md'
      ? Buffer.from(markdown)
      : await render({ make: format, paper }, { signal: clientGone(reply), user });
  return reply
    .headers({
      'content-type': format === 'md' ? 'text/markdown; charset=utf-8' : documentMedia[format],
      'content-disposition': contentDisposition(`${name}.${format}`),
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
    })
    .send(bytes);
}
