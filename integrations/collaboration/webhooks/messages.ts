import { createHmac } from 'node:crypto';
import type { WebhookFormat } from '../../../domain/collaboration/webhooks/webhooks.model.ts';

/** What a delivery says. */
export interface DeliveredMessage {
  /** Equal in all attempts. */
  id: string;
  webhookId: string;
  /** The event as in the change feed. */
  event: Record<string, unknown> & { event_type: string };
  /** When the event was recorded, in ISO 8601; for a ping, when it is sent. */
  at: string;
  /** For CloudEvents: the address of the application without a slash at its end; empty if it is unknown. */
  base: string;
}

/** The body of a delivery and its headers, without those of the signature. */
interface WrittenMessage {
  body: string;
  headers: Record<string, string>;
}

const TYPE_PREFIX = 'estate.';

/** The URI reference of a webhook, as the source of its CloudEvents. */
const sourceOf = ({ base, webhookId }: DeliveredMessage): string => `${base}/api/v1/webhooks/${webhookId}`;

/** Writes a message in each format. */
const writers: Record<WebhookFormat, (message: DeliveredMessage) => WrittenMessage> = {
  estate: ({ id, webhookId, event }) => ({
    body: JSON.stringify({ id, webhook_id: webhookId, ...event }),
    headers: {
      'content-type': 'application/json',
      'estate-delivery': id,
      'estate-event': event.event_type,
      ...(typeof event.position === 'string' && { 'estate-position': event.position }),
    },
  }),
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  standard: ({ id, event, at }) => ({
    body: JSON.stringify({ type: event.event_type, timestamp: at, data: event }),
    headers: { 'content-type': 'application/json', 'webhook-id': id },
  }),
  // https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, 3.2
  cloudevents: (message) => {
    const { id, event, at } = message;
    const subject = event.card_id ?? event.relation_id;
    return {
      body: JSON.stringify({
        specversion: '1.0',
        id,
        source: sourceOf(message),
        type: TYPE_PREFIX + event.event_type,
        ...(typeof subject === 'string' && { subject }),
        time: at,
        datacontenttype: 'application/json',
        data: event,
      }),
      headers: { 'content-type': 'application/cloudevents+json; charset=utf-8', 'webhook-id': id },
    };
  },
};

/**
 * The body and headers of a delivery, signed with each valid secret.
 * @param seconds when it is signed, in seconds since 1970
 */
export function signedMessage(
  format: WebhookFormat,
  message: DeliveredMessage,
  secrets: readonly string[],
  seconds: number,
): WrittenMessage {
  const { body, headers } = writers[format](message);
  const signature: Record<string, string> =
    format === 'estate'
      ? { 'estate-signature': signBody(secrets, body, seconds) }
      : {
          'webhook-timestamp': String(seconds),
          'webhook-signature': standardSignature(secrets, message.id, body, seconds),
        };
  return { body, headers: { ...headers, ...signature } };
}

/**
 * The signature header of a body: `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`, with one
 * `v1` for each valid secret.
 */
export function signBody(secrets: readonly string[], body: string, seconds: number): string {
  const signed = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'),
  );
  return [`t=${seconds}`, ...signed.map((hex) => `v1=${hex}`)].join(',');
}

/**
 * The `webhook-signature` of Standard Webhooks: `v1,<HMAC-SHA256 of "<id>.<seconds>.<body>" in Base64>` for each valid
 * secret, separated by spaces. The key is what follows `whsec_`, decoded from Base64.
 */
export function standardSignature(
  secrets: readonly string[],
  id: string,
  body: string,
  seconds: number,
): string {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`)
    .join(' ');
}
