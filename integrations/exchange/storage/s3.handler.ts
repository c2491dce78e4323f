import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';

const TIMEOUT_MS = 120_000;
// the HTTP client sets the first two; the third is not supported and never signed
const SKIPPED = new Set(['host', 'content-length', 'expect']);

interface Request {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: Uint8Array | string;
}

/** Sends the library's requests through the guard of outgoing requests, with its address rules and proxy settings. */
export function guardedHandler(outbound: Outbound): NonNullable<S3ClientConfig['requestHandler']> {
  const handle = async (request: Request, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = abortSignal ? AbortSignal.any([abortSignal, timeout]) : timeout;
    const headers = Object.entries(request.headers).filter(([name]) => !SKIPPED.has(name.toLowerCase()));
    try {
      const response = await outbound.fetch(urlOf(request), {
        method: request.method,
        headers,
        signal,
        ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
      });
      return {
        response: {
          statusCode: response.status,
          reason: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: response.body ? Readable.fromWeb(response.body as ReadableStream) : Readable.from([]),
        },
      };
    } catch (error) {
      if (error instanceof OutboundRefusal) throw error;
      abortSignal?.throwIfAborted();
      // the library retries errors with this name
      throw Object.assign(new Error('the connection was lost', { cause: error }), { name: 'TimeoutError' });
    }
  };
  return { handle, updateHttpClientConfig() {}, httpHandlerConfigs: () => ({}) } as never;
}

function urlOf({ protocol, hostname, port, path, query = {} }: Request): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${escaped(name)}=${escaped(one ?? '')}`),
  );
  const search = pairs.length > 0 ? `?${pairs.join('&')}` : '';
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

/** Percent-encoding as in the signature (RFC 3986, 2.3). */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
