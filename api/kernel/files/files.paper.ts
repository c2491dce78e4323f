import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { DocumentFormat, PrintDocument } from '../../../reports/kernel/documents/document.types.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import { clientGone } from '../../gone.ts';

/** The media types of documents. */
export const paperMedia: Record<DocumentFormat, string> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pdf: 'application/pdf',
};

/** A document and the form in which it is wanted. */
export interface PaperFile {
  /** Without the ending. */
  name: string;
  format: DocumentFormat | 'md';
  paper: PrintDocument;
  markdown?: string;
}

/**
 * Sends a document as an attachment, made beside the thread that answers requests.
 * @throws EstateError `unavailable`, `too_many_requests`, `query_too_heavy`.
 */
export async function sendFile(
  reply: FastifyReply,
  { name, format, paper, markdown = '' }: PaperFile,
  user: string | null,
): Promise<FastifyReply> {
  const bytes =
    format === 'md'
      ? Buffer.from(markdown)
      : await render({ make: format, paper }, { signal: clientGone(reply), user });
  return reply
    .headers({
      'content-type': format === 'md' ? 'text/markdown; charset=utf-8' : paperMedia[format],
      'content-disposition': contentDisposition(`${name}.${format}`),
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
    })
    .send(bytes);
}
