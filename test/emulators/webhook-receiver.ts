import type { IncomingHttpHeaders } from 'node:http';
import { type CommonFault, reactionTo, serveResponses } from './http.ts';

/** One delivery as it arrived. */
interface Received {
  headers: IncomingHttpHeaders;
  /** As sent, byte by byte. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
}

export interface WebhookReceiver {
  url: string;
  /** Everything that came, accepted or not, in the order of arrival. */
  received: Received[];
  /** Decides what is done with each delivery: a status, or a fault; 204 unless set. */
  behave: (delivery: Received, count: number) => CommonFault | 'redirect';
  close(): Promise<void>;
}

/** A system that takes webhooks, with the faults that such systems have. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const { origin, close } = await serveResponses(({ headers, body: text }) => {
    const delivery = { headers, text, body: JSON.parse(text) };
    received.push(delivery);
    const behaviour = receiver.behave(delivery, received.length);
    if (behaviour === 'redirect') return { status: 302, headers: { location: '/elsewhere' } };
    return reactionTo(behaviour);
  });
  const receiver: WebhookReceiver = { url: `${origin}/hook`, received, behave: () => 204, close };
  return receiver;
}
