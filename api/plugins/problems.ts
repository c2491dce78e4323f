import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { survivorOf } from '../../domain/inventory/cards/merge/merge.redirect.ts';
import { withMissingScope } from '../../domain/kernel/permissions/policy.ts';
import { FOREIGN_KEY_VIOLATION, isConnectionLoss, sqlState } from '../../platform/database.ts';
import {
  type ErrorCode,
  EstateError,
  errorCodes,
  invalidField,
  isStorageFull,
  storageFull,
} from '../../platform/errors.ts';
import { errorFormats } from '../error-formats.ts';
import type { App } from '../types.ts';
import { type AjvError, fieldErrors } from './validation-errors.ts';

/** `Retry-After` while the database is unavailable. */
const RETRY_SECONDS = '2';

/** Sends errors as problem details (RFC 9457); unexpected errors are logged and sent without details. */
export function registerProblems(app: App): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const given = await ofMerged(request, await ofDeleted(request, toEstateError(error)));
    const known = request.ctx ? withMissingScope(request.ctx.caller, given) : given;
    const hasLeft = reply.raw.destroyed && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (known.code === 'internal' && !hasLeft) request.log.error({ err: error }, 'unexpected failure');
    if (known.code === 'unavailable' || known.code === 'storage_full')
      request.log.warn({ err: error }, known.message);
    return sendProblem(request, reply, known);
  });
  const offered: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', (route) => {
    const pattern = new RegExp(
      `^${route.url
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:\w+/g, '[^/]+')
        .replace(/\\\*/g, '.*')}/?$`,
    );
    for (const method of [route.method].flat()) offered.push({ method, pattern });
  });
  const notFoundError = (request: FastifyRequest): EstateError => {
    const path = request.url.split('?')[0]!;
    const methods = offered.filter((route) => route.pattern.test(path)).map((route) => route.method);
    if (methods.length === 0) return new EstateError('not_found', 'There is no resource at this URL.');
    return new EstateError('method_not_allowed', `${request.method} is not supported here.`, {
      headers: { allow: [...new Set(methods)].join(', ') },
    });
  };
  // before the body is read
  app.addHook('onRequest', (request, _reply, done) =>
    done(request.is404 ? notFoundError(request) : undefined),
  );
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFoundError(request)));
}

/** Sends the error of an invalid URL, or one with a path segment longer than any id or key. */
export function sendBadAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const [code, message] =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? ['maxLength', 'A path segment is too long.']
      : ['format', 'The URL is malformed.'];
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
  sendProblem(request, reply, invalidField('path', code, message));
}

/** Sends an error in the format of the URL: by default as a problem document. */
function sendProblem(request: FastifyRequest, reply: FastifyReply, error: EstateError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="estate"');
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value);
  const format = Object.values(errorFormats).find((each) => each.applies(request, error));
  if (format) return format.send(request, reply, error);
  return reply
    .code(error.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemOf(error, request.id));
}

/** Maximum number of errors in a problem document; its `detail` counts all. */
const MOST_ERRORS = 100;

/** The members of the problem document. */
export function problemOf(error: EstateError, requestId: string): Record<string, unknown> {
  // every 422 has `errors`, even if no single member is invalid
  const whole =
    error.status === 422 ? [{ field: 'request', code: error.code, message: error.message }] : undefined;
  const errors = error.errors ?? whole;
  return {
    type: `urn:estate:problem:${error.code}`,
    title: errorCodes[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(errors ? { errors: errors.slice(0, MOST_ERRORS) } : {}),
    ...error.extra,
  };
}

/**
 * Handles requests for a merged card: reads are redirected to the survivor, writes are refused, since a change of one card
 * must not silently change another.
 */
async function ofMerged(request: FastifyRequest, error: EstateError): Promise<EstateError> {
  const { subject } = error;
  if (error.code !== 'not_found' || subject?.kind !== 'card' || !request.ctx) return error;
  const [path, query] = request.url.split('?');
  const parts = path!.split('/');
  const place = parts.findIndex((part) => part.toLowerCase() === subject.id.toLowerCase());
  const reads = request.method === 'GET' || request.method === 'HEAD';
  // merges name their cards in the body
  if (place < 0 && !path!.endsWith('/merge')) return error;
  const survivor_id = await survivorOf(request.ctx, subject.id);
  if (survivor_id === undefined) return error;
  const location = `${parts.with(place, survivor_id).join('/')}${query === undefined ? '' : `?${query}`}`;
  return new EstateError(
    reads ? 'merged' : 'merged_card',
    `The card ${subject.id} was merged into ${survivor_id}.`,
    // merges can be undone: the redirect must not be cached
    { extra: { survivor_id }, ...(reads ? { headers: { location, 'cache-control': 'no-store' } } : {}) },
  );
}

/** Maps the foreign-key error of a write whose row was deleted concurrently: the caller's account or another object. */
async function ofDeleted(request: FastifyRequest, error: EstateError): Promise<EstateError> {
  const { cause } = error;
  if (sqlState(cause) !== FOREIGN_KEY_VIOLATION || !request.ctx) return error;
  const { db, caller } = request.ctx;
  const known = caller.userId === null || (await db('users').where({ id: caller.userId }).first('id'));
  return known
    ? new EstateError('conflict', 'An object that the request refers to was deleted in the meantime.', {
        cause,
      })
    : new EstateError('unauthorized', 'The account was deleted.', { cause });
}

const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_JSON_BODY: 'bad_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'bad_body',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_body',
  FST_REQ_FILE_TOO_LARGE: 'payload_too_large',
  FST_FILES_LIMIT: 'bad_body',
  FST_PARTS_LIMIT: 'bad_body',
  FST_FIELDS_LIMIT: 'bad_body',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'unsupported_media_type',
};

/** Messages of the multipart parser, which has no error codes, for a truncated or invalid form. */
const BROKEN_FORM =
  /^(?:Unexpected end of multipart data|\w+ terminated early due to|Multipart: Boundary not found|The needle can)/;

function toEstateError(error: FastifyError): EstateError {
  if (error instanceof EstateError) return error;
  if (error.validation) {
    const errors = fieldErrors(error.validation as unknown as AjvError[]);
    const first = errors[0]!;
    return new EstateError('validation_failed', `${first.field}: ${first.message}`, { errors });
  }
  const code = frameworkCodes[error.code];
  if (code) return new EstateError(code, error.message);
  if (error instanceof SyntaxError && error.statusCode === 400)
    return new EstateError('bad_body', error.message);
  if (BROKEN_FORM.test(error.message)) return new EstateError('bad_body', 'The form cannot be parsed.');
  if (error.statusCode === 400) return new EstateError('bad_body', 'The request cannot be parsed.');
  if (isStorageFull(error)) return storageFull(error);
  if (isConnectionLoss(error)) {
    return new EstateError(
      'unavailable',
      'The database is unavailable; try again shortly. A write may have been executed: if it is sent again with the same Idempotency-Key, it is not executed twice.',
      { headers: { 'retry-after': RETRY_SECONDS }, cause: error },
    );
  }
  return new EstateError(
    'internal',
    'Something went wrong on our side; find it in the log by the request id.',
    {
      cause: error,
    },
  );
}
