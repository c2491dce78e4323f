import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

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
  const open = new Set<ServerResponse>();
  const receiver: WebhookReceiver = {
    url: '',
    received,
    behave: () => 204,
    async close() {
      for (const response of open) response.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer(async (request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    const content = await text(request).catch(() => undefined);
    if (content === undefined) return;
    const delivery = { headers: request.headers, text: content, body: JSON.parse(content) };
    received.push(delivery);
    const behaviour = receiver.behave(delivery, received.length);
    if (behaviour === 'hang') return;
    if (behaviour === 'cut') return void request.socket.destroy();
    if (behaviour === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
    if (typeof behaviour === 'number') return void response.writeHead(behaviour).end();
    response.writeHead(behaviour.status, { 'retry-after': String(behaviour.retryAfter) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}
