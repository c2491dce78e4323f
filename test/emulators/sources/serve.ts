import type { ServerOptions } from 'node:https';
import { type Received, type Response, serveResponses } from '../http.ts';

/** An API that lists records. */
export interface SourceApi {
  base: string;
  /** Requests that were answered, without those of `instead`. */
  requests: Received[];
  /** Answers that come instead, one after the other. */
  instead: Response[];
  close(): Promise<void>;
}

export interface SourceOptions {
  tls?: ServerOptions;
  now?: () => number;
  /** Whether a request is authenticated. */
  accepts: (authorization: string) => boolean;
}

/** Serves an API whose requests need an Authorization header. @param refusal the answer to others. */
export async function serveSource(
  { tls, now, accepts }: SourceOptions,
  refusal: object,
  react: (received: Received) => Response,
): Promise<SourceApi> {
  const requests: Received[] = [];
  const instead: Response[] = [];
  const { origin, close } = await serveResponses(
    (received) => {
      const other = instead.shift();
      if (other) return { body: {}, ...other };
      if (!accepts(received.headers.authorization ?? '')) return { status: 401, body: refusal };
      requests.push(received);
      return react(received);
    },
    { tls, ...(now ? { now } : {}) },
  );
  return { base: origin, requests, instead, close };
}

/** A cursor as the APIs make them: opaque text. */
export const toCursor = (state: object): string => Buffer.from(JSON.stringify(state)).toString('base64url');
export const fromCursor = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString());
