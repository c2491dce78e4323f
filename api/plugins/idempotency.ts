import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SealedResults } from '../../domain/kernel/context.ts';
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  storeResponse,
} from '../../domain/kernel/idempotency.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { sha256 } from '../../platform/crypto.ts';
import { invalidField } from '../../platform/errors.ts';
import type { App } from '../types.ts';

/** The encryption context of stored responses. */
const SEALED_FOR = 'idempotency_keys.body';
const storedHeaders = ['content-type', 'location', 'x-position', 'x-mutation-batch', 'etag'];

/** `Idempotency-Key` on POST and PATCH: the first response is stored for 24 hours and sent again. */
export function registerIdempotency(app: App, { secrets, signals }: Services): void {
  const sealed: SealedResults = {
    seal: (plain) => secrets.seal(plain, SEALED_FOR),
    open: (text) => secrets.open(text, SEALED_FOR),
  };
  app.decorate('idempotency', { processNumber: signals.processNumber, sealed });
  app.addHook('preHandler', (request, reply, done) => {
    const { ownIdempotency, permission } = request.routeOptions.config;
    // public operations have no user, and their responses, such as tokens, must not be stored
    if (request.headers['idempotency-key'] === undefined || ownIdempotency || permission === 'public') {
      done();
      return;
    }
    const body = request.body === undefined ? '' : JSON.stringify(request.body);
    applyIdempotencyKey(request, reply, sha256(body)).then((answered) => {
      if (!answered) done();
    }, done);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!request.ctx?.claim) {
      done(null, payload);
      return;
    }
    storeOrRelease(request, reply, payload).then(
      () => done(null, payload),
      // a response that could not be stored becomes an error, with which the key is released
      (error) => (reply.statusCode < 500 ? done(error) : done(null, payload)),
    );
  });
}

/** Stores the response under the request's key; after a 5xx the key is released. */
async function storeOrRelease(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
  // a repeated request gets a cookie of its own, with the stored results of the commands
  const hasCookie = request.routeOptions.config.secretResponse && reply.hasHeader('set-cookie');
  if (reply.statusCode < 500 && !hasCookie && (payload === null || typeof payload === 'string')) {
    const seal = request.ctx.claim?.seal?.seal;
    const headers = Object.fromEntries(
      storedHeaders.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
    );
    const body = payload !== null && seal ? seal(payload) : payload;
    await storeResponse(request.ctx, { status: reply.statusCode, headers, body });
  } else {
    await releaseIdempotencyKey(request.ctx);
  }
}

/**
 * Claims the request's key, or sends the stored response of the first request.
 * @param contentHash hash of the body.
 * @returns whether the stored response was sent.
 */
export async function applyIdempotencyKey(
  request: FastifyRequest,
  reply: FastifyReply,
  contentHash: string,
): Promise<boolean> {
  const key = request.headers['idempotency-key'];
  if (key === undefined || (request.method !== 'POST' && request.method !== 'PATCH')) return false;
  if (request.ctx.caller.userId === null) return false;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw invalidField('Idempotency-Key', 'format', 'must have 1 to 200 printable characters without blanks');
  }
  // another token of the same user may have fewer rights
  const { apiTokenId, impersonatedRole, isWebSession, permissions } = request.ctx.caller;
  // and rights may have been withdrawn since the first request
  const rights = permissions === '*' ? '*' : [...permissions].sort().join(',');
  // a dry run must not answer for the write itself, nor a write for one in another batch
  const { batch: named } = request.ctx;
  const batch = (named.joined ?? named.byClient) && named.id;
  // a token must not be sent again to a page, which gets a cookie instead
  const login = isWebSession && 'cookie';
  const parts = [
    request.method,
    request.url,
    contentHash,
    batch,
    apiTokenId,
    login,
    impersonatedRole,
    rights,
  ];
  const hash = sha256(parts.filter(Boolean).join(' '));
  const { processNumber, sealed } = request.server.idempotency;
  const seal = request.routeOptions.config.secretResponse ? sealed : undefined;
  const claimed = await claimIdempotencyKey(request.ctx, { key, hash, processNumber, seal });
  if ('claim' in claimed) {
    request.ctx.claim = claimed.claim;
    // the process ended after the first request's commit and before its response
    if (claimed.claim.results.length > 0) reply.header('idempotent-replayed', 'true');
    return false;
  }
  const { status, headers, body } = claimed.kept;
  reply.code(status).headers({ ...headers, 'idempotent-replayed': 'true' });
  await reply.send(body !== null && seal ? seal.open(body) : body);
  return true;
}
