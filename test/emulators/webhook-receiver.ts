import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveOnLoopback } from '../support/loopback.ts';

/** One delivery as it arrived. */
interface Received {
  headers: IncomingHttpHeaders;
  /** As sent, byte by byte. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
}

/** What a receiver does with a delivery: a status, or something worse. */
type Behaviour = number | 'hang' | 'cut' | 'redirect' | { status: number; retryAfter: number };

export interface WebhookReceiver {
  url: string;
  /** Everything that came, accepted or not, in the order of arrival. */
  received: Received[];
  /** Decides what is done with each delivery; 204 unless set. */
  behave: (delivery: Received, count: number) => Behaviour;
  close(): Promise<void>;
}

/** A system that takes webhooks, with the faults that such systems have. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const { origin, close } = await serveOnLoopback(async (request, response) => {
    const content = await text(request);
    const delivery = { headers: request.headers, text: content, body: JSON.parse(content) };
    received.push(delivery);
    const behaviour = receiver.behave(delivery, received.length);
    if (behaviour === 'hang') return;
    if (behaviour === 'cut') return void request.socket.destroy();
    if (behaviour === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
    if (typeof behaviour === 'number') return void response.writeHead(behaviour).end();
    response.writeHead(behaviour.status, { 'retry-after': String(behaviour.retryAfter) }).end();
  });
  const receiver: WebhookReceiver = { url: `${origin}/hook`, received, behave: () => 204, close };
  return receiver;
}
