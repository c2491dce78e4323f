import type { Readable } from 'node:stream';
import type { FastifyRequest, InjectOptions } from 'fastify';
import type { App } from '../../types.ts';

/** A request to an operation of this service. */
export interface ApiRequest {
  method: string;
  /** Below `/api/v1`, with its parameters encoded. */
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The members of a response, which the operation's schema has validated. */
type ApiBody = Record<string, unknown>;

/** Sends a request to the service as the caller. @throws ApiError for every response that is not 2xx. */
export type CallApi = <T extends object = ApiBody>(
  request: ApiRequest,
) => Promise<{ body: T; headers: Record<string, unknown> }>;

/** An error response of the service, with its problem document. */
export class ApiError extends Error {
  readonly problem: Record<string, unknown>;
  constructor(problem: Record<string, unknown>) {
    super(String(problem.detail ?? problem.title ?? 'refused'));
    this.problem = problem;
  }
}

/** Headers that identify the caller. */
const forwarded = ['authorization', 'accept-language', 'user-agent'] as const;

/**
 * Calls operations within this process through their routes, so that validation, permissions, batches and logs are those of
 * any other request: a tool can only do what its caller could do.
 */
export function callApiAs(app: App, request: FastifyRequest): CallApi {
  const identity = Object.fromEntries(
    forwarded.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
  );
  return async <T extends object>({ method, path, query, body, headers }: ApiRequest) => {
    const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: `/api/v1${path}`,
      query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      headers: {
        ...identity,
        'x-request-id': request.id,
        'x-request-origin': 'mcp',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      remoteAddress: request.ip,
      payloadAsStream: true,
    });
    const text = await textOf(answer.stream());
    const parsed = text === '' ? {} : JSON.parse(text);
    if (answer.statusCode >= 300) throw new ApiError(text === '' ? { status: answer.statusCode } : parsed);
    return { body: parsed as T, headers: answer.headers };
  };
}

/** Maximum bytes of a response that are read: some reports are streams without a limit. */
const LIMIT_BYTES = 8 * 1024 * 1024;

async function textOf(stream: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > LIMIT_BYTES) throw new ApiError(tooLarge('Use a filter, or query_inventory.'));
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The problem document of a response that exceeds the limit of a tool. */
export const tooLarge = (advice: string) => ({
  status: 413,
  code: 'result_too_large',
  detail: `The response is too large. ${advice}`,
});
