import { setTimeout as delay } from 'node:timers/promises';
import { appVersion } from '../../../domain/kernel/version.ts';
import { EstateError } from '../../../platform/errors.ts';
import { type Outbound, OutboundRefusal, type OutboundResponse } from '../../../platform/outbound.ts';

/** Timeouts and retries of the client. */
export interface RetryPolicy {
  /** Timeout of one response. */
  timeoutMs: number;
  /** Maximum requests per document. */
  attempts: number;
  /** Delay before the second request, doubled with each further one. */
  pauseMs: number;
  /** Maximum accepted Retry-After; above it the run ends and resumes later. */
  longestWaitMs: number;
}

/** Validators of an earlier response. */
interface Validators {
  etag: string | null;
  last_modified: string | null;
}

/** The result of reading a document. */
export type EolResponse =
  | { status: 'read'; document: unknown; etag: string | null; lastModified: string | null }
  | { status: 'unchanged' }
  | { status: 'missing' }
  /** `rateLimited`: the Retry-After exceeds the maximum. */
  | { status: 'failed'; reason: string; rateLimited?: true };

/** Reads documents of the API below a base URL. */
export interface EolClient {
  read(path: string, seen?: Validators): Promise<EolResponse>;
}

const MAX_BYTES = 4 * 1024 * 1024;

export function createEolClient(
  outbound: Outbound,
  base: string,
  retryPolicy: RetryPolicy,
  signal: AbortSignal,
): EolClient {
  const root = base.replace(/\/+$/, '');
  return {
    async read(path, seen) {
      const headers = {
        accept: 'application/json',
        'user-agent': `Estate/${appVersion}`,
        ...(seen?.etag ? { 'if-none-match': seen.etag } : {}),
        ...(seen?.last_modified ? { 'if-modified-since': seen.last_modified } : {}),
      };
      let result: EolResponse = { status: 'failed', reason: 'no request was sent' };
      for (let attempt = 1; attempt <= retryPolicy.attempts; attempt += 1) {
        signal.throwIfAborted();
        let wait = retryPolicy.pauseMs * 2 ** (attempt - 1);
        try {
          const response = await outbound.request(`${root}${path}`, {
            headers,
            timeoutMs: retryPolicy.timeoutMs,
            maxBytes: MAX_BYTES,
            redirects: 2,
            signal,
          });
          const { again, ...rest } = readResponse(response);
          result = rest as EolResponse;
          if (!again) return result;
          const asked = retryAfterMs(response.headers['retry-after']);
          if (asked !== undefined) {
            if (asked > retryPolicy.longestWaitMs) return { ...result, rateLimited: true } as EolResponse;
            wait = Math.max(wait, asked);
          }
        } catch (error) {
          signal.throwIfAborted();
          // the outbound guard refuses the URL: retries are useless
          if (error instanceof OutboundRefusal) throw new EstateError('upstream_failed', error.message);
          result = { status: 'failed', reason: reasonOf(error, retryPolicy.timeoutMs) };
        }
        if (attempt < retryPolicy.attempts) await delay(wait, undefined, { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
      return result;
    },
  };
}

/** Interprets a response; `again` if a retry may succeed. */
function readResponse({ status, headers, body }: OutboundResponse): EolResponse & { again?: boolean } {
  if (status === 304) return { status: 'unchanged' };
  if (status === 404 || status === 410) return { status: 'missing' };
  if (status !== 200) {
    const rateLimited = status === 429 ? ({ rateLimited: true } as const) : {};
    const reason = `it responded with ${status}`;
    return { status: 'failed', reason, again: status === 429 || status >= 500, ...rateLimited };
  }
  try {
    return {
      status: 'read',
      document: JSON.parse(body.toString('utf8')),
      etag: headers.etag ?? null,
      lastModified: headers['last-modified'] ?? null,
    };
  } catch {
    return { status: 'failed', reason: 'the response is not JSON' };
  }
}

/** RFC 9110, 10.2.3: seconds, or a date. */
export function retryAfterMs(header: string | undefined, now: number = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if ((error as Error).name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  return 'it could not be reached';
}
