/** What a request header means, once for all operations that take it. */
const requestHeaders = {
  Accept: {
    description: 'The format of the answer (RFC 9110); JSON without it.',
    schema: { type: 'string' },
    example: 'text/csv',
  },
  'Accept-Language': {
    description:
      'Languages of labels, by preference (RFC 9110). Without it, and where nothing is translated, labels are as they were given.',
    schema: { type: 'string' },
    example: 'de-AT, fr;q=0.5',
  },
  'Idempotency-Key': {
    description:
      'Makes a repetition harmless: the first answer is kept for 24 hours and given again. The same key with another request is refused.',
    schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
    example: '5d2a7c1e-import-2026-02-03',
  },
  'If-Match': {
    description: 'ETags of the resource as it was read; when it has changed since, nothing is written.',
    schema: { type: 'string' },
    example: '"4JpWkUUzWSMOqWnQVGOsF3dnL2E"',
  },
  'If-None-Match': {
    description: 'ETags of answers that the client still holds; when one is current, the answer is 304.',
    schema: { type: 'string' },
    example: '"4JpWkUUzWSMOqWnQVGOsF3dnL2E"',
  },
  'Last-Event-ID': {
    description: 'The feed position from which a stream goes on, nothing lost and nothing repeated.',
    schema: { type: 'string', pattern: '^[0-9]{0,19}$' },
    example: '48213',
  },
  Prefer: {
    description: '`respond-async` asks for a job instead of waiting for the answer (RFC 7240).',
    schema: { type: 'string' },
    example: 'respond-async',
  },
  Range: {
    description: 'One range of bytes (RFC 9110), to go on with a download that was cut off.',
    schema: { type: 'string' },
    example: 'bytes=1048576-',
  },
  'X-Mutation-Batch': {
    description: 'The id of an open batch of the caller, which this write joins.',
    schema: { type: 'string', format: 'uuid' },
    example: '01980000-0000-7000-8000-000000000004',
  },
  'X-Request-Origin': {
    description: 'What sort of client writes; kept with batches and events.',
    schema: { type: 'string', enum: ['api', 'web', 'mcp'] },
    example: 'api',
  },
  'X-Request-Id': {
    description:
      'A name for this request of 8 to 100 letters, digits, dots, dashes and underscores. It comes back in the answer and stands in logs and audit events; without one the service makes one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]{8,100}$' },
    example: 'nightly-sync-0042',
  },
} as const;

/** What an answer's header means, once for all answers that carry it. */
const answerHeaders = {
  Age: {
    description: 'Seconds since the answer was computed, when it may be older than the newest change.',
    schema: { type: 'integer', minimum: 0 },
  },
  Allow: { description: 'The methods that this address offers; with 405.', schema: { type: 'string' } },
  'Content-Disposition': {
    description: "The file's name (RFC 6266).",
    schema: { type: 'string' },
  },
  'Content-Language': { description: 'The language of the labels.', schema: { type: 'string' } },
  'Content-Range': { description: 'Which bytes of how many these are.', schema: { type: 'string' } },
  ETag: {
    description: 'Names this state of the resource, for `If-None-Match` and `If-Match`.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the kept answer to an earlier request with the same key.',
    schema: { type: 'string' },
  },
  Location: { description: 'The address of what was made or started.', schema: { type: 'string' } },
  'Preference-Applied': {
    description: 'The preference of the request that was followed (RFC 7240).',
    schema: { type: 'string' },
  },
  'Repr-Digest': {
    description: 'SHA-256 of the whole file, as `sha-256=:<base64>:` (RFC 9530).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 0 },
  },
  Vary: {
    description: 'Request headers that make a difference to the answer.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'How to log in.', schema: { type: 'string' } },
  'X-Position': {
    description:
      'Of a write: its place in the change feed; missing when nothing was written. Of a file: the place that its content includes.',
    schema: { type: 'string', pattern: '^[0-9]{1,19}$' },
  },
  'X-Request-Id': {
    description: 'The name of the request in logs and audit events.',
    schema: { type: 'string' },
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;
export type AnswerHeader = keyof typeof answerHeaders;

const plain = (name: string) => name.replaceAll('-', '');

/** The reference to a request header among the components. */
export function requestHeaderRef(name: RequestHeader): { $ref: string } {
  return { $ref: `#/components/parameters/${plain(name)}` };
}

/** The `headers` of an answer, by reference. */
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
