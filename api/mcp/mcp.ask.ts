import type { Readable } from 'node:stream';
import type { FastifyRequest, InjectOptions } from 'fastify';
import type { App } from '../types.ts';

/** A request to the service's own operations. */
export interface Question {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`, with the values of its parts encoded. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Reply {
  // biome-ignore lint/suspicious/noExplicitAny: members of many shapes, which the service's own schemas have checked
  body: any;
  headers: Record<string, unknown>;
}

/** Sends a request to the service as the caller. @throws RefusedError for every answer that is none. */
export type Ask = (question: Question) => Promise<Reply>;

/** What the service refused, as its problem document says it. */
export class RefusedError extends Error {
  readonly problem: Record<string, unknown>;
  constructor(problem: Record<string, unknown>) {
    super(String(problem.detail ?? problem.title ?? 'refused'));
    this.problem = problem;
  }
}

/** Headers of the request that say who asks, and how. */
const passed = ['authorization', 'accept-language', 'user-agent'] as const;

/**
 * Asks within this process, by the operation's own route: its checks, rights, batches and log lines are those of any other
 * request. Nothing that a tool does can be more than what its caller may do by himself.
 */
export function askAs(app: App, request: FastifyRequest): Ask {
  const identity = Object.fromEntries(
    passed.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
  );
  return async ({ method, path, query, body, headers }) => {
    const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
    const options: InjectOptions = {
      method,
      url: `/api/v1${path}`,
      query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      headers: {
        ...identity,
        'x-request-id': request.id,
        'x-request-origin': 'mcp',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      } as Record<string, string>,
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      remoteAddress: request.ip,
      payloadAsStream: true,
    };
    const answer = await app.inject(options);
    const text = await textOf(answer.stream());
    const parsed = text === '' ? null : JSON.parse(text);
    if (answer.statusCode >= 300) throw new RefusedError(parsed ?? { status: answer.statusCode });
    return { body: parsed, headers: answer.headers };
  };
}

/** An answer that is longer is not read to its end: some reports are streams without a limit. */
const LIMIT_BYTES = 8 * 1024 * 1024;

async function textOf(stream: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > LIMIT_BYTES)
      throw new RefusedError(tooLarge('Ask for less: by a filter, or by query_inventory.'));
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The refusal of what would be longer than a tool answers. */
export const tooLarge = (advice: string) => ({
  status: 413,
  code: 'answer_too_large',
  detail: `The answer is too large. ${advice}`,
});
