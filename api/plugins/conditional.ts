import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOf, matchesEtag, parseEtags } from '../../domain/kernel/context.ts';
import type { App } from '../types.ts';

/** Adds ETags to JSON responses of GET, handles `If-None-Match` with 304, and passes `If-Match` to the command. */
export function registerConditional(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const header = request.headers['if-match'];
    if (header !== undefined && request.ctx) request.ctx.ifMatch = parseEtags(header);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    done(null, conditional(request, reply, payload));
  });
}

/** Sets the ETag; returns the payload, or nothing if the client has it already. */
function conditional(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const given = reply.getHeader('etag');
  if (reply.statusCode !== 200 || (request.method !== 'GET' && given === undefined)) return payload;
  if (given === undefined) {
    if (typeof payload !== 'string') return payload;
    reply.header('etag', etagOf(payload));
  }
  if (request.method !== 'GET') return payload;
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache');
  const header = request.headers['if-none-match'];
  if (header === undefined || !matchesEtag(String(reply.getHeader('etag')), parseEtags(header)))
    return payload;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return null;
}
