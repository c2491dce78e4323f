import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { etagOf } from '../../domain/kernel/context.ts';
import { OpenObject } from '../../domain/kernel/shapes.ts';
import { notFound } from '../../platform/errors.ts';
import { sendJson } from '../json.ts';
import { ok, routesOf } from '../operation.ts';
import type { App } from '../types.ts';
import { createPageFiles } from './page/page.files.ts';

/** Allows only scripts, styles and requests of this origin; nothing inline, no frames. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The API's description, for programs and for people. */
export function registerOpenApiRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'API description' });

  const files = createPageFiles();
  let description: { text: string; etag: string } | undefined;

  routes.get('readOpenApi', '/api/openapi.json', {
    summary: 'Read this description',
    permission: 'public',
    alone: true,
    responses: ok('An OpenAPI 3.1 document', OpenObject),
    handler: async ({ reply }) => {
      if (!description) {
        const text = JSON.stringify(app.swagger());
        description = { text, etag: etagOf(text) };
      }
      const { text, etag } = description;
      return sendJson(reply.header('etag', etag).header('cache-control', 'public, no-cache'), text);
    },
  });

  routes.get('readApiPage', '/api/docs', {
    summary: 'Read this description as a page with a client to call the operations',
    permission: 'public',
    alone: true,
    headers: ['If-None-Match'],
    responses: { 200: { description: 'A page', schema: Type.String(), mediaType: 'text/html' } },
    handler: ({ reply }) => sendFile(reply, 'page.html'),
  });

  // the page's links are relative to the URL without the trailing slash
  app.get(
    '/api/docs/',
    { config: { permission: 'public', alone: true }, schema: { hide: true } },
    (_request, reply) => reply.redirect('../docs', 308),
  );

  app.get<{ Params: { file: string } }>(
    '/api/docs/:file',
    { config: { permission: 'public', alone: true }, schema: { hide: true } },
    (request, reply) => sendFile(reply, request.params.file),
  );

  async function sendFile(reply: FastifyReply, name: string) {
    const file = await files(name);
    if (!file) throw notFound('file', name);
    return reply
      .header('content-type', file.mediaType)
      .header('content-security-policy', pagePolicy)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'public, no-cache')
      .header('etag', file.etag)
      .send(file.content);
  }
}
