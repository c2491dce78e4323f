import type { FastifyReply, FastifyRequest } from 'fastify';
import { type EstateError, errorCodes } from '../../../../platform/errors.ts';
import { document, pagePolicy } from './portal.document.ts';
import { html } from './portal.html.ts';

/** Whether an error is shown on a portal's page. */
export function wantsPage({ url, headers }: FastifyRequest): boolean {
  return url.startsWith('/portal/') && (headers.accept ?? '').includes('text/html');
}

/** Sends an error as a page. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  error: EstateError,
): FastifyReply {
  const path = request.url.split('?')[0]!;
  const { title } = errorCodes[error.code];
  const back = error.status === 422 ? html`<p><a href="${path}">Show all cards of this portal</a></p>` : null;
  const body = html`<main id="content">
<h1>${title}</h1>
<p>${error.message}</p>
${back}
<p>Request ${request.id}</p>
</main>`;
  return reply
    .code(error.status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': 'no-store',
      vary: 'Accept',
    })
    .serializer(String)
    .send(document({ title, indexed: false, icon: false, body }));
}
