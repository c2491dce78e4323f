import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { scimTypeOf } from '../../domain/access/scim/scim.errors.ts';
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
import { sendODataError } from '../exchange/odata/odata.errors.ts';
import { sendErrorPage, wantsPage } from '../exchange/portals/page/portal.error.ts';
import { scimCode } from '../operation.spec.ts';
import type { App } from '../types.ts';
import { type AjvFault, fieldErrors } from './faults.ts';

/** When to try again while the database is away. */
const RETRY_SECONDS = '2';

/** Turns every failure into problem details (RFC 9457); what is not expected is logged and answered without detail. */
export function registerProblems(app: App): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const given = await ofMerged(request, await ofDeleted(request, toEstateError(error)));
    const known = request.ctx ? withMissingScope(request.ctx.caller, given) : given;
    if (known.code === 'internal') request.log.error({ err: error }, 'unexpected failure');
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
    if (isScimBulk(request.method, path)) {
      return new EstateError('scim_not_implemented', 'Bulk requests are not offered.');
    }
    if (methods.length === 0) return new EstateError('not_found', 'There is nothing at this address.');
    return new EstateError('method_not_allowed', `${request.method} is not offered here.`, {
      headers: { allow: [...new Set(methods)].join(', ') },
    });
  };
  // before the body is read, which nobody would use
  app.addHook('onRequest', (request, _reply, done) =>
    done(request.is404 ? notFoundError(request) : undefined),
  );
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFoundError(request)));
}

/** RFC 7644, 3.7: what is known and not offered is 501. */
const isScimBulk = (method: string, path: string): boolean => method === 'POST' && path === '/scim/v2/Bulk';

/** Answers what fails before a route is found: the address itself is broken, or holds a part longer than any id or key. */
export function sendBadAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const [code, message] =
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? ['maxLength', 'A part of the address is too long.']
      : ['format', 'The address is not well-formed.'];
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
  sendProblem(request, reply, invalidField('path', code, message));
}

/** Answers with the problem document of an expected error. */
function sendProblem(request: FastifyRequest, reply: FastifyReply, error: EstateError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="estate"');
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value);
  if (/^\/scim\/v2(\/|$)/.test(request.url)) return sendScimError(request, reply, error);
  if (wantsPage(request)) return sendErrorPage(request, reply, error);
  if (/^\/odata\/v4(\/|\?|$)/.test(request.url)) return sendODataError(request, reply, error);
  return reply
    .code(error.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemOf(error, request.id));
}

/** Answers with the error document of SCIM (RFC 7644, 3.12), and what helps to find the reason besides. */
function sendScimError(request: FastifyRequest, reply: FastifyReply, error: EstateError): FastifyReply {
  const code = scimCode(error.code);
  const { status } = errorCodes[code];
  const scimType = scimTypeOf(code);
  return reply
    .code(status)
    .header('content-type', 'application/scim+json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      ...(scimType ? { scimType } : {}),
      detail: error.message,
      code,
      request_id: request.id,
      ...error.extra,
    });
}

/** How many errors a problem document names; its `detail` counts all. */
const MOST_ERRORS = 100;

/** The members of the problem document. */
export function problemOf(error: EstateError, requestId: string): Record<string, unknown> {
  // every 422 says where the fault lies, also one that no single member is to blame for
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
 * What is asked of a card that was merged is to be asked of its survivor: reads are led there, writes are told, since
 * what was meant for one card must not be done to another unseen.
 */
async function ofMerged(request: FastifyRequest, error: EstateError): Promise<EstateError> {
  const { subject } = error;
  if (error.code !== 'not_found' || subject?.kind !== 'card' || !request.ctx) return error;
  const [path, query] = request.url.split('?');
  const parts = path!.split('/');
  const place = parts.findIndex((part) => part.toLowerCase() === subject.id.toLowerCase());
  const reads = request.method === 'GET' || request.method === 'HEAD';
  // a merge names its cards in the body
  if (place < 0 && !path!.endsWith('/merge')) return error;
  const survivor_id = await survivorOf(request.ctx, subject.id);
  if (survivor_id === undefined) return error;
  const location = `${parts.with(place, survivor_id).join('/')}${query === undefined ? '' : `?${query}`}`;
  return new EstateError(
    reads ? 'merged' : 'merged_card',
    `The card ${subject.id} was merged into ${survivor_id}.`,
    // a merge can be undone: nobody is to remember the way
    { extra: { survivor_id }, ...(reads ? { headers: { location, 'cache-control': 'no-store' } } : {}) },
  );
}

/** A write that names a row which was deleted while it ran: the caller's own account, or something else. */
async function ofDeleted(request: FastifyRequest, error: EstateError): Promise<EstateError> {
  const { cause } = error;
  if (sqlState(cause) !== FOREIGN_KEY_VIOLATION || !request.ctx) return error;
  const { db, caller } = request.ctx;
  const known = caller.userId === null || (await db('users').where({ id: caller.userId }).first('id'));
  return known
    ? new EstateError('conflict', 'Something that the request names was deleted meanwhile.', { cause })
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

/** What the parser of forms says of one that breaks off or is no form; it has no codes for that. */
const BROKEN_FORM =
  /^(?:Unexpected end of multipart data|\w+ terminated early due to|Multipart: Boundary not found|The needle can)/;

function toEstateError(error: FastifyError): EstateError {
  if (error instanceof EstateError) return error;
  if (error.validation) {
    const errors = fieldErrors(error.validation as unknown as AjvFault[]);
    const first = errors[0]!;
    return new EstateError('validation_failed', `${first.field}: ${first.message}`, { errors });
  }
  const code = frameworkCodes[error.code];
  if (code) return new EstateError(code, error.message);
  if (error instanceof SyntaxError && error.statusCode === 400)
    return new EstateError('bad_body', error.message);
  if (BROKEN_FORM.test(error.message)) return new EstateError('bad_body', 'The form cannot be read.');
  if (error.statusCode === 400) return new EstateError('bad_body', 'The request cannot be parsed.');
  if (isStorageFull(error)) return storageFull(error);
  if (isConnectionLoss(error)) {
    return new EstateError(
      'unavailable',
      'The database does not answer at the moment; try again shortly. A write may have been carried out: sent again with the same Idempotency-Key it is not carried out twice.',
      { headers: { 'retry-after': RETRY_SECONDS }, cause: error },
    );
  }
  return new EstateError('internal', 'Something went wrong on our side; the log holds the request id.', {
    cause: error,
  });
}
