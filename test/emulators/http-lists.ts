import type { IncomingMessage } from 'node:http';
import type { ServerOptions } from 'node:https';
import { type Clock, systemClock } from '../../integrations/exchange/itsm/remote.ts';
import { serveOnLoopback } from '../support/loopback.ts';

/** What lies at a path: a file, or whatever the answer to a request is. */
type Place =
  | { body: string | Buffer; type?: string; changed?: number; etag?: string }
  | ((
      query: URLSearchParams,
      request: IncomingMessage,
    ) => { status?: number; headers?: object; body: unknown });

export interface Lists {
  base: string;
  places: Map<string, Place>;
  requests: { path: string; query: URLSearchParams; headers: IncomingMessage['headers']; status: number }[];
  /** Answers that come instead, one after the other. */
  instead: { status: number; headers?: Record<string, string>; body?: string }[];
  close(): Promise<void>;
}

/** A server of files and JSON lists on loopback. */
export async function startLists(options: { clock?: Clock; tls?: ServerOptions } = {}): Promise<Lists> {
  const clock = options.clock ?? systemClock;
  const { origin, close } = await serveOnLoopback((request, response) => {
    const url = new URL(request.url!, 'http://lists');
    const noted = { path: url.pathname, query: url.searchParams, headers: request.headers, status: 0 };
    lists.requests.push(noted);
    const send = (status: number, headers: object, body: string | Buffer = '') => {
      noted.status = status;
      const date = new Date(clock.now()).toUTCString();
      const length = status === 304 ? {} : { 'content-length': Buffer.byteLength(body) };
      response.writeHead(status, { date, ...length, ...headers }).end(body);
    };
    const other = lists.instead.shift();
    if (other) return send(other.status, other.headers ?? {}, other.body);
    const place = lists.places.get(url.pathname);
    if (!place) return send(404, {}, 'nothing here');
    if (typeof place === 'function') {
      const { status = 200, headers = {}, body } = place(url.searchParams, request);
      return send(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
    }
    const { body, type = 'text/plain', changed, etag } = place;
    const told = {
      'content-type': type,
      ...(changed === undefined ? {} : { 'last-modified': new Date(changed).toUTCString() }),
      ...(etag === undefined ? {} : { etag }),
    };
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    const same =
      request.headers['if-none-match'] === undefined
        ? changed !== undefined && Math.floor(changed / 1000) * 1000 <= since
        : request.headers['if-none-match'] === etag;
    return same ? send(304, told) : send(200, told, body);
  }, options.tls);
  const lists: Lists = { base: origin, places: new Map(), requests: [], instead: [], close };
  return lists;
}
