import type { FastifyReply, FastifyRequest } from 'fastify';
import { EstateError } from '../../../platform/errors.ts';
import { understoodVersion } from './odata.headers.ts';

/** The members of an error as OData has it (JSON format 4.01, 21.1), with what helps to find the reason. */
export function odataErrorOf(error: EstateError, requestId: string): object {
  const { target, ...extra } = error.extra;
  const first = error.errors?.[0];
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(target !== undefined || first ? { target: target ?? first?.field } : {}),
      ...(error.errors
        ? { details: error.errors.map(({ field, code, message }) => ({ code, message, target: field })) }
        : {}),
      innererror: { request_id: requestId, ...extra },
    },
  };
}

/** Answers with an error of OData. */
export function sendODataError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: EstateError,
): FastifyReply {
  // spreadsheets ask for a name and a password only when they are told that these are taken
  if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="estate", Basic realm="estate"');
  const told = error.status === 401 ? withBasic(error) : BATCH.test(request.url) ? noBatch(error) : error;
  return reply
    .code(told.status)
    .header('odata-version', understoodVersion(request.headers))
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(odataErrorOf(told, request.id));
}

/** The address of batch requests. */
const BATCH = /^\/odata\/v4\/(?:\$|%24)batch\/?(?:\?|$)/i;

/** A service without batch requests says so, whatever is sent there (OData protocol, 11.7). */
const noBatch = (error: EstateError): EstateError =>
  ['method_not_allowed', 'unsupported_media_type', 'bad_body'].includes(error.code)
    ? new EstateError('odata_not_implemented', 'Batch requests are not offered.')
    : error;

/** Says what clients such as spreadsheets can send, which know nothing of Bearer. */
const withBasic = (error: EstateError): EstateError =>
  new EstateError(
    error.code,
    `${error.message} As the password of Basic authorization it will do, under any user name.`,
    { extra: error.extra },
  );
