import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyRequest } from 'fastify';
import { notFound } from '../../platform/errors.ts';
import { cookieOf } from '../plugins/web-session.ts';
import type { App } from '../types.ts';

/** Where the build of the web interface is; absent where it was not built. */
const folder = path.resolve(import.meta.dirname, '../../web/dist');

/** Names of files contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Only scripts of this origin run; inline style elements need the nonce of the response. Values of style attributes are set by
 * scripts, which the policy permits.
 */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');

/** Addresses of the service itself: there is no page at them. */
const notPages = /^\/(api|odata|scim|mcp|metrics|portal|assets)(\/|$)/;

/** Whether a request takes a page: at the root also one that takes anything, such as that of a monitor. */
const takesPage = ({ url, headers: { accept = '*/*' } }: FastifyRequest): boolean =>
  accept.includes('text/html') || (/^\/(\?|$)/.test(url) && /\*\/\*|text\/\*/.test(accept));

/** Whether a request without a route is one of a browser for a page. */
const asksForPage = (request: FastifyRequest): boolean => {
  const { is404, method, url } = request;
  return is404 && (method === 'GET' || method === 'HEAD') && !notPages.test(url) && takesPage(request);
};

/**
 * Serves the web interface, if it was built: its files at `/assets`, and its page at every address that asks for HTML and is
 * none of the service, at the root to all that do not ask for something else. Must be registered before the hook that answers unknown addresses.
 */
export async function registerWeb(app: App): Promise<void> {
  const index = path.join(folder, 'index.html');
  if (!existsSync(index)) return;
  const page = readFileSync(index, 'utf8');

  app.addHook('onRequest', (request, reply, done) => {
    if (!asksForPage(request)) return done();
    const nonce = randomBytes(16).toString('base64');
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policyOf(nonce))
      .header('cache-control', 'no-store')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('referrer-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=()')
      .send(page.replace('%NONCE%', nonce).replace('%SESSION%', cookieOf(request) ? 'cookie' : 'none'));
  });
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, cacheControl: false });
}

/** The files of the web interface. */
export function registerWebFiles(app: App): void {
  if (!existsSync(folder)) return;
  const names = new Set(readdirSync(path.join(folder, 'assets')));
  const route = { config: { permission: 'public', alone: true }, schema: { hide: true } } as const;
  app.get<{ Params: { '*': string } }>('/assets/*', route, (request, reply) => {
    const name = request.params['*'];
    // `sendFile` would report a missing file with the caching of a present one
    if (!names.has(name)) throw notFound('file', name);
    return reply.header('cache-control', IMMUTABLE).sendFile(`assets/${name}`);
  });
}
