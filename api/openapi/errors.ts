import { type ErrorCode, EstateError, errorCodes } from '../../platform/errors.ts';
import { odataErrorOf } from '../exchange/odata/odata.errors.ts';
import { problemOf } from '../plugins/problems.ts';
import type { OpenApiResponse } from './document.ts';
import { type AnswerHeader, answerHeaderRefs } from './headers.ts';

/** Example details for codes whose title is not enough. */
const details: Partial<Record<ErrorCode, string>> = {
  bad_body: 'The request cannot be parsed.',
  document_signed: 'It is signed and cannot be changed: revise it instead.',
  forbidden: 'You need the permission inventory.edit.',
  internal: 'Something went wrong on our side; find it in the log by the request id.',
  method_not_allowed: 'PUT is not supported here.',
  not_found: 'There is no card 0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11.',
  precondition_failed: 'The resource has changed since you read it; read it again.',
  unauthorized: 'Send an access token as Bearer authorization.',
  validation_failed: 'name: is required',
};

/** Further members of the problem document. */
const extras: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  document_signed: { state: 'signed', allowed: ['revise'] },
  forbidden: { permission: 'inventory.edit' },
  merged: { survivor_id: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11' },
  merged_card: { survivor_id: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11' },
};

const statusHeaders: Record<number, AnswerHeader[]> = {
  308: ['Location'],
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The error responses of an operation by status, each with its codes. */
export function errorResponses(codes: ErrorCode[]): Record<string, OpenApiResponse> {
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `\`${code}\`: ${errorCodes[code].title}`).join('; '),
        'x-error-codes': list,
        headers: answerHeaderRefs(['X-Request-Id', ...(statusHeaders[status] ?? [])]),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(
              list.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  );
}

/** The error responses of a SCIM operation, in the form of RFC 7644, 3.12. */
export function scimErrorResponses(codes: ErrorCode[]): Record<string, OpenApiResponse> {
  return Object.fromEntries(
    Object.entries(errorResponses(codes)).map(([status, { content: _, ...response }]) => [
      status,
      { ...response, content: scimError(status, response['x-error-codes']![0] as ErrorCode) },
    ]),
  );
}

/** Adds JSON-RPC errors as an alternative to problem documents. */
export function orJsonRpc(responses: Record<string, OpenApiResponse>): Record<string, OpenApiResponse> {
  const message = {
    schema: { $ref: '#/components/schemas/JsonRpcMessage' },
    example: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Invalid params' } },
  };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, content: { ...response.content, 'application/json': message } },
    ]),
  );
}

/** Adds HTML pages as an alternative to problem documents. */
export function orPage(responses: Record<string, OpenApiResponse>): Record<string, OpenApiResponse> {
  const page = { schema: { type: 'string' } };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      { ...response, content: { ...response.content, 'text/html': page } },
    ]),
  );
}

/** The `default` response of SCIM operations. */
export function otherScimResponse(): OpenApiResponse {
  const { description, headers } = otherResponse();
  return { description, ...(headers ? { headers } : {}), content: scimError('500', 'internal') };
}

/** The `default` response of OData operations. */
export function otherODataResponse(): OpenApiResponse {
  const { 'x-error-codes': _, ...response } = odataErrors(otherResponse());
  return response;
}

/** The same response in the form of OData (JSON format 4.01, 21.1). */
export function odataErrors(response: OpenApiResponse): OpenApiResponse {
  const code = response['x-error-codes']![0] as ErrorCode;
  const error = new EstateError(code, details[code] ?? `${errorCodes[code].title}.`, {
    extra: extras[code] ?? {},
  });
  return {
    ...response,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ODataError' },
        example: odataErrorOf(error, 'nightly-sync-0042'),
      },
    },
  };
}

const scimError = (status: string, code: ErrorCode): OpenApiResponse['content'] => ({
  'application/scim+json': {
    schema: { $ref: '#/components/schemas/ScimError' },
    example: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status,
      detail: details[code] ?? `${errorCodes[code].title}.`,
      code,
      request_id: 'nightly-sync-0042',
    },
  },
});

/** One example of a problem document for each code. */
export function problemExamples(codes: Iterable<ErrorCode>): Record<string, object> {
  return Object.fromEntries(
    [...new Set(codes)].sort().map((code) => {
      const { status, title } = errorCodes[code];
      const error = new EstateError(code, details[code] ?? `${title}.`, {
        extra: extras[code] ?? {},
        ...(status === 422 ? { errors: [faults[code] ?? defaultFault] } : {}),
      });
      return [code, { summary: title, value: problemOf(error, 'nightly-sync-0042') }];
    }),
  );
}

const defaultFault = { field: 'name', code: 'required', message: 'is required' };
const faults: Partial<Record<ErrorCode, typeof defaultFault>> = {
  cursor_expired: { field: 'cursor', code: 'cursor_expired', message: 'has expired: start again without it' },
  cursor_mismatch: { field: 'cursor', code: 'cursor_mismatch', message: 'belongs to another list' },
  parent_cycle: { field: 'parent_id', code: 'parent_cycle', message: 'is a descendant of the card' },
  use_operation: { field: 'status', code: 'use_operation', message: 'is changed by a separate operation' },
};

/** Codes that any request can get. */
export const commonCodes: ErrorCode[] = [
  'bad_request',
  'expectation_failed',
  'headers_too_large',
  'internal',
  'method_not_allowed',
  'request_timeout',
  'storage_full',
  'unavailable',
];

/** The `default` response of operations. */
export function otherResponse(): OpenApiResponse {
  return {
    ...errorResponses(commonCodes)['500']!,
    description:
      'Any other error, such as an unsupported method (405, with `Allow`), a malformed request (400), a request timeout (408), headers that are too large (431), an internal error (500), a service that is not ready (503) or has no storage space left (507).',
    'x-error-codes': commonCodes,
    headers: answerHeaderRefs(['Allow', 'Retry-After', 'X-Request-Id']),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          commonCodes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  };
}
