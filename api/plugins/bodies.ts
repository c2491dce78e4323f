import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { EstateError, invalidField } from '../../platform/errors.ts';
import { createUsage } from '../../platform/usage.ts';
import type { App } from '../types.ts';

const KIB = 1024;

/** Limits of request bodies. */
export const bodyLimits = {
  /** Maximum size of public operations, in bytes. */
  publicBytes: 64 * KIB,
  /** Default maximum size of JSON bodies of other operations, in bytes. */
  jsonBytes: 2 * KIB * KIB,
  /** Maximum time of a body of a public operation, in milliseconds. */
  publicMs: 10_000,
  /** Other operations: this many bytes must arrive in each window; the total time is not limited. */
  windowBytes: 32 * KIB,
  windowMs: 30_000,
  /** Maximum time of the rest of a body after the response was sent, in milliseconds. */
  restMs: 5_000,
};

type BodyLimits = typeof bodyLimits;

/** Limits of the request bodies that authenticated callers can have in the memory of a process, in bytes. */
export const bodyMemoryLimits = {
  /** Smaller bodies do not count, since the number of connections is limited. */
  counted: bodyLimits.publicBytes,
  /** Operations with a larger limit stream their bodies to the file storage, so that these do not count either. */
  largest: 32 * KIB * KIB,
  perUser: 64 * KIB * KIB,
  perProcess: 256 * KIB * KIB,
};

/** Maximum number of members and items of a JSON body: parsing and checking them takes a fraction of a second. */
const MAX_MEMBERS = 500_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Whether JSON has more members and items than allowed, by the commas outside of texts. */
function hasTooManyMembers(json: Buffer): boolean {
  let commas = 0;
  let isText = false;
  for (let at = 0; commas < MAX_MEMBERS && at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at += 1;
    else if (!isText && byte === COMMA) commas += 1;
  }
  return commas === MAX_MEMBERS;
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The error of JSON with a member that could change prototypes. */
const forbiddenMember = (): EstateError =>
  invalidField('body', 'unknown_field', 'contains a member __proto__ or constructor.prototype');

/**
 * Parses JSON bodies, and merge patches of PATCH (RFC 7396). An empty body of any media type counts as no body. Other
 * media types are refused without reading the body.
 */
export function registerBodies(app: App): void {
  const parser = app.getDefaultJsonParser('error', 'error');
  const parse = (
    request: FastifyRequest,
    body: Buffer,
    done: (error: Error | null, value?: unknown) => void,
  ) => {
    if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(notUtf8());
    else if (hasTooManyMembers(body)) done(tooManyMembers());
    else {
      const text = body.toString('utf8');
      parser(request, text, (error, value) => done(error && isJson(text) ? forbiddenMember() : error, value));
    }
  };
  const options = { parseAs: 'buffer' as const };
  app.addContentTypeParser<Buffer>('application/json', options, parse);
  app.addContentTypeParser<Buffer>('application/merge-patch+json', options, (request, body, done) => {
    if (body.length === 0 || request.method === 'PATCH') parse(request, body, done);
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
    // the handler of a file upload reads the body
    if (headers['content-length'] === '0' && !request.routeOptions.config.consumes)
      delete headers['content-type'];
    done(hasBody(request.raw) && isEncoded(headers) ? encoded() : undefined);
  });
}

/** Whether the headers announce a compressed body, or another character set than UTF-8. */
function isEncoded({
  'content-encoding': encoding = 'identity',
  'content-type': type = '',
}: IncomingHttpHeaders): boolean {
  const [, charset = 'utf-8'] = /;\s*charset="?([^";\s]+)/i.exec(type) ?? [];
  return encoding.trim().toLowerCase() !== 'identity' || !/^(utf-?8|us-ascii)$/i.test(charset);
}

const tooManyMembers = (): EstateError =>
  new EstateError(
    'payload_too_large',
    'The body has more than 500,000 members and items. Send it in parts, or import it as a file.',
  );

const encoded = (): EstateError =>
  new EstateError('unsupported_media_type', 'Send the body uncompressed and as UTF-8.');

/** JSON is UTF-8 (RFC 8259, 8.1); other bytes would be stored as replacement characters. */
export const notUtf8 = (): EstateError =>
  new EstateError('bad_body', 'The body contains bytes that are not UTF-8; send it as UTF-8.');

const unsupported = (): EstateError =>
  new EstateError(
    'unsupported_media_type',
    'Send the body as application/json (SCIM also application/scim+json), or a PATCH as application/merge-patch+json.',
  );

/** Whether the request headers announce a body. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Refuses bodies that do not arrive in time, and closes connections that continue sending after the response. */
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
        // the request may be destroyed while its connection is open; injected requests have no connection
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
 * Limits the memory of request bodies per user and per process. A body counts until the response is sent, with its
 * Content-Length or else the limit of its operation. Must be registered after authentication.
 */
export function limitBodyMemory(
  app: App,
  { counted, largest, perUser, perProcess } = bodyMemoryLimits,
): void {
  const inMemory = createUsage();
  app.addHook('onRequest', (request, reply, done) => {
    const { raw, routeOptions } = request;
    const userId = request.ctx?.caller.userId;
    const limit = routeOptions.bodyLimit;
    if (!hasBody(raw) || !userId || limit > largest) {
      done();
      return;
    }
    const bytes = Math.min(Number(raw.headers['content-length'] ?? limit), limit);
    if (bytes <= counted) done();
    else if (inMemory.of(userId) + bytes > perUser)
      done(limitError('too_many_requests', 'Your requests', perUser));
    else if (inMemory.total() + bytes > perProcess)
      done(limitError('unavailable', 'The requests to this process', perProcess));
    else {
      reply.raw.once('close', inMemory.take(userId, bytes));
      done();
    }
  });
}

const limitError = (code: 'too_many_requests' | 'unavailable', whose: string, bytes: number) =>
  new EstateError(code, `${whose} have bodies of at most ${bytes / KIB / KIB} MiB at a time.`, {
    headers: { 'retry-after': '5' },
  });

function needsLogin({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.permission !== undefined && config.permission !== 'public';
}

/**
 * Enforces the time limit of a public body, or the minimum rate of an authenticated caller's body. A late body emits an
 * error on its stream; if nobody reads the stream, the connection is closed.
 * @returns a function that ends the check.
 */
export function watchBody(raw: IncomingMessage, isKnown: boolean, limits: BodyLimits): () => void {
  let seen = raw.socket.bytesRead;
  let timer: NodeJS.Timeout;
  const checkProgress = () => {
    if (raw.complete || raw.destroyed) return;
    const arrived = raw.socket.bytesRead - seen;
    seen = raw.socket.bytesRead;
    // buffered data has arrived in time
    if (isKnown && (arrived >= limits.windowBytes || raw.readableLength > 0)) {
      timer = setTimeout(checkProgress, limits.windowMs);
      return;
    }
    const late = new EstateError('request_timeout', 'The body did not arrive in time.', {
      headers: { connection: 'close' },
    });
    timer = setTimeout(() => raw.destroy(), limits.restMs);
    if (raw.listenerCount('error') > 0) raw.emit('error', late);
    else raw.destroy();
  };
  timer = setTimeout(checkProgress, isKnown ? limits.windowMs : limits.publicMs);
  return () => clearTimeout(timer);
}
