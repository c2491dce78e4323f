import { type EstateError, errorCodes } from '../../../../platform/errors.ts';
import type { ErrorFormat } from '../../../types.ts';
import { document, html, pagePolicy } from './portal.document.ts';

/** The page that shows an error; after invalid parameters it links to the portal at `path`. */
function pageOf(error: EstateError, requestId: string, path?: string): string {
  const { title } = errorCodes[error.code];
  const back =
    error.status === 422 && path ? html`<p><a href="${path}">Show all cards of this portal</a></p>` : null;
  const body = html`<main id="content">
<h1>${title}</h1>
<p>${error.message}</p>
${back}
<p>Request ${requestId}</p>
</main>`;
  return document({ title, indexed: false, icon: false, body });
}

/** Errors on a portal's page. */
export const portalErrors: ErrorFormat = {
  applies: ({ url, headers }) => url.startsWith('/portal/') && (headers.accept ?? '').includes('text/html'),
  body: pageOf,
  send: (request, reply, error) =>
    reply
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
      .send(pageOf(error, request.id, request.url.split('?')[0]!)),
};
