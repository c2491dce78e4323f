import { scimTypeOf } from '../../../domain/access/scim/scim.errors.ts';
import { EstateError, errorCodes } from '../../../platform/errors.ts';
import { scimCode } from '../../operation.ts';
import type { ErrorFormat } from '../../types.ts';

/** The SCIM error document (RFC 7644, 3.12) with details for diagnosis. */
function scimErrorOf(error: EstateError, requestId: string): object {
  const code = scimCode(error.code);
  const scimType = scimTypeOf(code);
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(errorCodes[code].status),
    ...(scimType ? { scimType } : {}),
    detail: error.message,
    code,
    request_id: requestId,
    ...error.extra,
  };
}

/** RFC 7644, 3.7: unsupported bulk operations return 501. */
const withBulk = (error: EstateError, method: string, url: string): EstateError =>
  method === 'POST' && /^\/scim\/v2\/Bulk(\?|$)/.test(url) && error.code === 'not_found'
    ? new EstateError('scim_not_implemented', 'Bulk requests are not supported.')
    : error;

/** Errors of the SCIM interface. */
export const scimErrors: ErrorFormat = {
  applies: ({ url }) => /^\/scim\/v2(\/|$)/.test(url),
  body: scimErrorOf,
  send(request, reply, error) {
    const given = withBulk(error, request.method, request.url);
    return reply
      .code(errorCodes[scimCode(given.code)].status)
      .header('content-type', 'application/scim+json; charset=utf-8')
      .serializer((body: unknown) => JSON.stringify(body))
      .send(scimErrorOf(given, request.id));
  },
};
