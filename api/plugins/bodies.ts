import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EstateError, invalidField } from '../../platform/errors.ts';
import type { App } from '../types.ts';

const KIB = 1024;

/** Bounds on request bodies. */
export const bodyLimits = {
  /** The largest body where no login is needed, in bytes. */
  publicBytes: 64 * KIB,
  /** The largest JSON body elsewhere, unless the operation says otherwise, in bytes. */
  jsonBytes: 2 * KIB * KIB,
  /** How long a body may take where no login is needed, in milliseconds. */
  publicMs: 10_000,
  /** Elsewhere this many bytes must arrive in each window; there is no limit on the whole time. */
  windowBytes: 32 * KIB,
  windowMs: 30_000,
  /** How long the rest of a body may take after the answer has been given, in milliseconds. */
  restMs: 5_000,
};

type BodyLimits = typeof bodyLimits;

/** Bounds on the bodies that callers with a login hold in the memory of a process, in bytes. */
export const heldLimits = {
  /** Smaller bodies do not count: the bound on connections bounds them too. */
  counted: bodyLimits.publicBytes,
  /** An operation that takes larger bodies streams them to the file storage, so that they do not count either. */
  largest: 32 * KIB * KIB,
  perUser: 64 * KIB * KIB,
  perProcess: 256 * KIB * KIB,
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The refusal of JSON with a member that would change prototypes. */
const forbiddenMember = (): EstateError =>
  invalidField('body', 'unknown_field', 'contains a member __proto__ or constructor.prototype');

/**
 * Parses JSON. An empty body is no body, whatever its media type; `application/merge-patch+json` is the media type of
 * the merge patches that PATCH takes (RFC 7396). Other media types are refused without being read.
 */
export function registerBodies(app: App): void {
  const parser = app.getDefaultJsonParser('error', 'error');
  const parse: typeof parser = (request, text, done) =>
    parser(request, text, (error, body) => done(error && isJson(text) ? forbiddenMember() : error, body));
  const options = { parseAs: 'buffer' as const };
  app.addContentTypeParser<Buffer>('application/json', options, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(notUtf8());
    else parse(request, body.toString('utf8'), done);
  });
  app.addContentTypeParser<Buffer>('application/merge-patch+json', options, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(notUtf8());
    else if (request.method === 'PATCH') parse(request, body.toString('utf8'), done);
    else done(unsupported());
  });
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('*', (_request, payload, done) => {
    const settle = (error: Error | null) => {
      payload.off('data', onData).off('end', onEnd).off('error', settle);
      done(error, undefined);
    };
    const onData = () => settle(unsupported());
    const onEnd = () => settle(null);
    payload.on('data', onData).on('end', onEnd).on('error', settle);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    // an operation that takes files reads its body by itself
    if (headers['content-length'] === '0' && !request.routeOptions.config.ownBody)
      delete headers['content-type'];
    done();
  });
}

/** JSON is UTF-8 (RFC 8259, 8.1); other bytes would be stored as replacement characters. */
export const notUtf8 = (): EstateError =>
  new EstateError('bad_body', 'The body holds bytes that are not UTF-8; send it as UTF-8.');

const unsupported = (): EstateError =>
  new EstateError(
    'unsupported_media_type',
    'Send the body as application/json, or a PATCH as application/merge-patch+json.',
  );

/** Whether the request says that it has a body. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Refuses bodies that do not arrive in time, and closes connections that go on sending after the answer. */
export function registerBodyDeadlines(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    const { socket } = raw;
    if (hasBody(raw)) {
      const stop = watchBody(raw, needsLogin(request), bodyLimits);
      reply.raw.on('close', stop);
      reply.raw.on('finish', () => {
        stop();
        if (raw.complete) return;
        // the request may be destroyed already while its connection is open; injected requests have no connection
        const rest = setTimeout(() => {
          if (!raw.complete) socket.destroy?.();
        }, bodyLimits.restMs);
        raw.on('end', () => clearTimeout(rest));
        socket.once('close', () => clearTimeout(rest));
      });
    }
    done();
  });
}

/**
 * Refuses bodies beyond what a user, and a process, may hold in memory. A body counts from its first byte to the end of
 * the answer, with the length that it announces; without one, with the limit of its operation. Registered after the
 * login was checked.
 */
export function boundHeldBodies(app: App, { counted, largest, perUser, perProcess } = heldLimits): void {
  const byUser = new Map<string, number>();
  let total = 0;
  app.addHook('onRequest', (request, reply, done) => {
    const { raw, routeOptions } = request;
    const userId = request.ctx?.caller.userId;
    const limit = routeOptions.bodyLimit;
    if (!hasBody(raw) || !userId || limit > largest) {
      done();
      return;
    }
    const bytes = Math.min(Number(raw.headers['content-length'] ?? limit), limit);
    const own = (byUser.get(userId) ?? 0) + bytes;
    if (bytes <= counted) done();
    else if (own > perUser) done(beyond('too_many_requests', 'Your requests', perUser));
    else if (total + bytes > perProcess)
      done(beyond('unavailable', 'The requests to this process', perProcess));
    else {
      byUser.set(userId, own);
      total += bytes;
      reply.raw.once('close', () => {
        total -= bytes;
        const left = byUser.get(userId)! - bytes;
        if (left === 0) byUser.delete(userId);
        else byUser.set(userId, left);
      });
      done();
    }
  });
}

const beyond = (code: 'too_many_requests' | 'unavailable', whose: string, bytes: number) =>
  new EstateError(code, `${whose} have bodies of at most ${bytes / KIB / KIB} MiB at a time.`, {
    headers: { 'retry-after': '5' },
  });

function needsLogin({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.permission !== undefined && config.permission !== 'public';
}

/**
 * Watches a body arrive: as a whole within a time, or, for callers with a login, at a least rate. A body that does not
 * is an error of its stream, which its reader answers; where nobody reads it the connection is closed.
 * @returns what ends the watch.
 */
export function watchBody(raw: IncomingMessage, isKnown: boolean, limits: BodyLimits): () => void {
  let seen = raw.socket.bytesRead;
  let timer: NodeJS.Timeout;
  const look = () => {
    if (raw.complete || raw.destroyed) return;
    const arrived = raw.socket.bytesRead - seen;
    seen = raw.socket.bytesRead;
    // data that waits for its reader has arrived in time
    if (isKnown && (arrived >= limits.windowBytes || raw.readableLength > 0)) {
      timer = setTimeout(look, limits.windowMs);
      return;
    }
    const late = new EstateError('request_timeout', 'The body did not arrive in time.', {
      headers: { connection: 'close' },
    });
    timer = setTimeout(() => raw.destroy(), limits.restMs);
    if (raw.listenerCount('error') > 0) raw.emit('error', late);
    else raw.destroy();
  };
  timer = setTimeout(look, isKnown ? limits.windowMs : limits.publicMs);
  return () => clearTimeout(timer);
}
