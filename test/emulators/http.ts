import type { IncomingHttpHeaders } from 'node:http';
import type { ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { type LoopbackServer, serveOnLoopback } from '../support/loopback.ts';

/** A request with its whole body. */
export interface Received {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: string;
  /** Aborted when the caller has gone before the answer was sent. */
  gone: AbortSignal;
}

export interface Response {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; text and bytes are sent as they are. */
  body?: unknown;
  /** Only the first part of the body is sent. */
  isCut?: boolean;
}

/** What happens to a request: an answer, none at all, or the end of the connection. */
export type Reaction = Response | 'hang' | 'reset';

const bytesOf = (body: unknown): Buffer => {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
};

/** Serves HTTP on loopback, HTTPS with `tls`. @param now the time that answers have in their header. */
export async function serveResponses(
  react: (received: Received) => Reaction | Promise<Reaction>,
  { tls, now = Date.now }: { tls?: ServerOptions | undefined; now?: () => number } = {},
): Promise<LoopbackServer> {
  const served = await serveOnLoopback(async (incoming, response) => {
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableEnded) gone.abort();
    });
    const { method = '', url = '', headers } = incoming;
    const body = await text(incoming);
    const received = { method, url: new URL(url, 'http://emulator'), headers, body, gone: gone.signal };
    const reaction = await react(received);
    if (reaction === 'hang') return;
    if (reaction === 'reset') return void incoming.socket.destroy();
    const whole = bytesOf(reaction.body);
    const content = reaction.isCut ? whole.subarray(0, Math.floor(whole.length * 0.6)) : whole;
    response
      .writeHead(reaction.status, {
        date: new Date(now()).toUTCString(),
        ...(reaction.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(reaction.status === 304 ? {} : { 'content-length': content.length }),
        ...reaction.headers,
      })
      .end(content);
  }, tls);
  // an emulator that nobody closes does not keep its process alive
  served.server.unref();
  return served;
}

/** Faults that any server has. */
export type CommonFault = 'hang' | 'cut' | number | { status: number; retryAfter: string | number };

export function reactionTo(fault: CommonFault): Reaction {
  if (fault === 'hang') return 'hang';
  if (fault === 'cut') return 'reset';
  if (typeof fault === 'number') return { status: fault };
  return { status: fault.status, headers: { 'retry-after': String(fault.retryAfter) } };
}
