/** Request headers, described once for all operations. */
const requestHeaders = {
  Accept: {
    description: 'The media type of the response (RFC 9110); default JSON.',
    schema: { type: 'string' },
    example: 'text/csv',
  },
  'Accept-Language': {
    description:
      'Languages of labels, by preference (RFC 9110). Without it, and where no translation exists, labels are untranslated.',
    schema: { type: 'string' },
    example: 'de-AT, fr;q=0.5',
  },
  'Idempotency-Key': {
    description:
      'Makes retries safe: the first response is stored for 24 hours and sent again. The same key with another request is refused.',
    schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
    example: '5d2a7c1e-import-2026-02-03',
  },
  'If-Match': {
    description: 'ETags of the resource as it was read; if it has changed since, nothing is written.',
    schema: { type: 'string' },
    example: '"4JpWkUUzWSMOqWnQVGOsF3dnL2E"',
  },
  'If-None-Match': {
    description: 'ETags of responses that the client has cached; if one is current, the response is 304.',
    schema: { type: 'string' },
    example: '"4JpWkUUzWSMOqWnQVGOsF3dnL2E"',
  },
  'Last-Event-ID': {
    description: 'The feed position after which the stream resumes, without gaps or duplicates.',
    schema: { type: 'string', pattern: '^[0-9]{0,19}$' },
    example: '48213',
  },
  Prefer: {
    description: '`respond-async` starts a job instead of waiting for the response (RFC 7240).',
    schema: { type: 'string' },
    example: 'respond-async',
  },
  Range: {
    description: 'One range of bytes (RFC 9110), to resume an interrupted download.',
    schema: { type: 'string' },
    example: 'bytes=1048576-',
  },
  'X-Mutation-Batch': {
    description: 'The id of an open batch of the caller; this write becomes part of it.',
    schema: { type: 'string', format: 'uuid' },
    example: '01980000-0000-7000-8000-000000000004',
  },
  'X-Request-Origin': {
    description: 'The kind of client that writes; stored with batches and events.',
    schema: { type: 'string', enum: ['api', 'web', 'mcp'] },
    example: 'api',
  },
  'X-Request-Id': {
    description:
      'An id of this request, 8 to 100 letters, digits, dots, dashes and underscores. It is returned in the response and recorded in logs and audit events; by default the service generates one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]{8,100}$' },
    example: 'nightly-sync-0042',
  },
} as const;

/** Response headers, described once for all responses. */
const answerHeaders = {
  Age: {
    description: 'Seconds since the response was computed, if it may be older than the newest change.',
    schema: { type: 'integer', minimum: 0 },
  },
  Allow: { description: 'The methods that the resource supports; with 405.', schema: { type: 'string' } },
  'Content-Disposition': {
    description: "The file's name (RFC 6266).",
    schema: { type: 'string' },
  },
  'Content-Language': { description: 'The language of the labels.', schema: { type: 'string' } },
  'Content-Range': { description: 'The range of bytes and the total size.', schema: { type: 'string' } },
  ETag: {
    description: 'Identifies this state of the resource, for `If-None-Match` and `If-Match`.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same key.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'The URL of the created resource or the started job.',
    schema: { type: 'string' },
  },
  'Preference-Applied': {
    description: 'The preference of the request that was applied (RFC 7240).',
    schema: { type: 'string' },
  },
  'Repr-Digest': {
    description: 'SHA-256 of the complete file, as `sha-256=:<base64>:` (RFC 9530).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 0 },
  },
  Vary: {
    description: 'Request headers on which the response depends.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'The supported authentication schemes.', schema: { type: 'string' } },
  'X-Position': {
    description:
      'Of a write: its position in the change feed; absent if nothing was written. Of a file: the position that its content includes.',
    schema: { type: 'string', pattern: '^[0-9]{1,19}$' },
  },
  'X-Request-Id': {
    description: 'The id of the request in logs and audit events.',
    schema: { type: 'string' },
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;
export type AnswerHeader = keyof typeof answerHeaders;

const plain = (name: string) => name.replaceAll('-', '');

/** A reference to the component of a request header. */
export function requestHeaderRef(name: RequestHeader): { $ref: string } {
  return { $ref: `#/components/parameters/${plain(name)}` };
}

/** The `headers` of a response as references. */
export function answerHeaderRefs(names: Iterable<AnswerHeader>): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => [name, { $ref: `#/components/headers/${plain(name)}` }]),
  );
}

/** All headers as components. */
export function headerComponents(): { parameters: Record<string, object>; headers: Record<string, object> } {
  return {
    parameters: Object.fromEntries(
      Object.entries(requestHeaders).map(([name, said]) => [plain(name), { name, in: 'header', ...said }]),
    ),
    headers: Object.fromEntries(Object.entries(answerHeaders).map(([name, said]) => [plain(name), said])),
  };
}
