import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'node:https';
import { type Clock, systemClock } from '../../integrations/exchange/itsm/remote.ts';
import { type Received, type Response, serveResponses } from './http.ts';

/** What is at a path: a file, or whatever the answer to a request is. */
type Place =
  | { body: string | Buffer; type?: string; changed?: number; etag?: string }
  | ((
      query: URLSearchParams,
      request: Received,
    ) => { status?: number; headers?: Record<string, string>; body: unknown });

export interface Lists {
  base: string;
  places: Map<string, Place>;
  requests: { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; status: number }[];
  /** Answers that come instead, one after the other. */
  instead: Response[];
  close(): Promise<void>;
}

/** A server of files and JSON lists on loopback. */
export async function startLists(options: { clock?: Clock; tls?: ServerOptions } = {}): Promise<Lists> {
  const clock = options.clock ?? systemClock;
  const answer = (received: Received): Response => {
    const other = lists.instead.shift();
    if (other) return { body: '', ...other };
    const { url, headers } = received;
    const place = lists.places.get(url.pathname);
    if (!place) return { status: 404, body: 'nothing here' };
    if (typeof place === 'function') {
      const { body, ...more } = place(url.searchParams, received);
      return { status: 200, ...more, body: JSON.stringify(body) };
    }
    const { body, type = 'text/plain', changed, etag } = place;
    const own = {
      'content-type': type,
      ...(changed === undefined ? {} : { 'last-modified': new Date(changed).toUTCString() }),
      ...(etag === undefined ? {} : { etag }),
    };
    const since = Date.parse(headers['if-modified-since'] ?? '');
    const isSame =
      headers['if-none-match'] === undefined
        ? changed !== undefined && Math.floor(changed / 1000) * 1000 <= since
        : headers['if-none-match'] === etag;
    return isSame ? { status: 304, headers: own } : { status: 200, headers: own, body };
  };
  const { origin, close } = await serveResponses(
    (received) => {
      const { url, headers } = received;
      const entry = { path: url.pathname, query: url.searchParams, headers, status: 0 };
      lists.requests.push(entry);
      const given = answer(received);
      entry.status = given.status;
      return given;
    },
    { tls: options.tls, now: () => clock.now() },
  );
  const lists: Lists = { base: origin, places: new Map(), requests: [], instead: [], close };
  return lists;
}
