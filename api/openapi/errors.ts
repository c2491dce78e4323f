import { type ErrorCode, EstateError, errorCodes } from '../../platform/errors.ts';
import { errorFormats } from '../error-formats.ts';
import type { OperationSpec } from '../operation.ts';
import { problemOf } from '../plugins/problems.ts';
import { type MediaType, type OpenApiResponse, reference } from './document.ts';
import { type ResponseHeader, responseHeaderRefs } from './headers.ts';

type ErrorFormat = NonNullable<OperationSpec['format']>;
const REQUEST_ID = 'nightly-sync-0042';
type Content = Record<string, MediaType>;

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

const statusHeaders: Record<number, ResponseHeader[]> = {
  308: ['Location'],
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const problems = (codes: ErrorCode[]): Content => ({
  'application/problem+json': {
    schema: reference('schemas', 'Problem'),
    examples: Object.fromEntries(codes.map((code) => [code, reference<object>('examples', code)])),
  },
});

/** The bodies of error responses with these codes of one status, by format. */
const contents: Record<ErrorFormat | 'problem', (codes: ErrorCode[]) => Content> = {
  problem: problems,
  scim: ([code]) => ({
    'application/scim+json': {
      schema: reference('schemas', 'ScimError'),
      example: errorFormats.scim.body(exampleError(code!), REQUEST_ID),
    },
  }),
  odata: ([code]) => ({
    'application/json': {
      schema: reference('schemas', 'ODataError'),
      example: errorFormats.odata.body(exampleError(code!), REQUEST_ID),
    },
  }),
  mcp: (codes) => ({
    ...problems(codes),
    'application/json': {
      schema: reference('schemas', 'JsonRpcMessage'),
      example: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Invalid params' } },
    },
  }),
  html: (codes) => ({ ...problems(codes), 'text/html': { schema: { type: 'string' } } }),
};

/** The error responses of an operation by status, each with its codes. */
export function errorResponses(
  codes: ErrorCode[],
  format: ErrorFormat | 'problem' = 'problem',
): Record<string, OpenApiResponse> {
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `\`${code}\`: ${errorCodes[code].title}`).join('; '),
        'x-error-codes': list,
        headers: responseHeaderRefs(['X-Request-Id', ...(statusHeaders[status] ?? [])]),
        content: contents[format](list),
      },
    ]),
  );
}

const detailOf = (code: ErrorCode): string => details[code] ?? `${errorCodes[code].title}.`;

/** An example of an error. */
const exampleError = (code: ErrorCode): EstateError =>
  new EstateError(code, detailOf(code), {
    extra: extras[code] ?? {},
    ...(errorCodes[code].status === 422 ? { errors: [fieldErrors[code] ?? defaultFieldError] } : {}),
  });

/** One example of a problem document for each code. */
export const problemExamples = (codes: Iterable<ErrorCode>): Record<string, object> =>
  Object.fromEntries(
    [...new Set(codes)].map((code) => [
      code,
      { summary: errorCodes[code].title, value: problemOf(exampleError(code), REQUEST_ID) },
    ]),
  );

const defaultFieldError = { field: 'name', code: 'required', message: 'is required' };
const fieldErrors: Partial<Record<ErrorCode, typeof defaultFieldError>> = {
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
  'too_slow',
  'unavailable',
];

/** The `default` response of operations. */
export function otherResponse(format: 'problem' | 'scim' | 'odata' = 'problem'): OpenApiResponse {
  return {
    description:
      'Any other error, such as an unsupported method (405, with `Allow`), a malformed request (400), a request timeout (408), headers that are too large (431), an internal error (500), a service that is not ready or a list that takes too long (503), or has no storage space left (507).',
    ...(format === 'problem' ? { 'x-error-codes': commonCodes } : {}),
    headers: responseHeaderRefs(['Allow', 'Retry-After', 'X-Request-Id']),
    content: contents[format](format === 'problem' ? commonCodes : ['internal']),
  };
}
