import { EstateError } from '../../../platform/errors.ts';
import type { ErrorFormat } from '../../types.ts';
import { clientVersion } from './odata.routes.ts';

/** The OData form of an error (JSON format 4.01, 21.1) with details for diagnosis. */
function odataErrorOf(error: EstateError, requestId: string): object {
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

/** The URL of batch requests. */
const BATCH = /^\/odata\/v4\/(?:\$|%24)batch\/?(?:\?|$)/i;

/** A service without batch requests answers any of them with 501 (OData protocol, 11.7). */
const noBatch = (error: EstateError): EstateError =>
  ['method_not_allowed', 'unsupported_media_type', 'bad_body'].includes(error.code)
    ? new EstateError('odata_not_implemented', 'Batch requests are not supported.')
    : error;

/** Adds how clients that only support Basic authentication, such as spreadsheets, send a token. */
const withBasic = (error: EstateError): EstateError =>
  new EstateError(
    error.code,
    `${error.message} Basic authentication with any user name and the token as password works too.`,
    { extra: error.extra },
  );

/** Errors of the OData interface. */
export const odataErrors: ErrorFormat = {
  applies: ({ url }) => /^\/odata\/v4(\/|\?|$)/.test(url),
  body: odataErrorOf,
  send(request, reply, error) {
    // spreadsheets only prompt for a user name and password if the response offers Basic authentication
    if (error.status === 401) reply.header('www-authenticate', 'Bearer realm="estate", Basic realm="estate"');
    const given = error.status === 401 ? withBasic(error) : BATCH.test(request.url) ? noBatch(error) : error;
    return reply
      .code(given.status)
      .header('odata-version', clientVersion(request.headers))
      .header('content-type', 'application/json; charset=utf-8')
      .serializer((body: unknown) => JSON.stringify(body))
      .send(odataErrorOf(given, request.id));
  },
};
