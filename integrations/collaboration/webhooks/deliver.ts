import { createHmac } from 'node:crypto';
import { OwnerRefused } from '../../../domain/access/jobs.owner.ts';
import {
  type Attempt,
  abandonDelivery,
  type ClaimedDelivery,
  deliveredEvent,
  ownerContext,
  pauseRefused,
  releaseDelivery,
  settleDelivery,
} from '../../../domain/collaboration/webhooks/deliveries.claim.ts';
import { secretContext } from '../../../domain/collaboration/webhooks/webhooks.commands.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import { OutboundRefusal } from '../../../platform/outbound.ts';

const TIMEOUT_MS = 15_000;
/** Maximum bytes of a receiver's response. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends one delivery and records its outcome. */
export async function deliver(
  services: Services,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  let event: Record<string, unknown> | undefined = { event_type: delivery.event_type, position: null };
  if (delivery.position !== null) {
    try {
      event = await deliveredEvent(await ownerContext(services, services.db, delivery), delivery.position);
    } catch (error) {
      if (!(error instanceof OwnerRefused)) throw error;
      await pauseRefused(services, delivery, error);
      return;
    }
  }
  if (!event) {
    const error = 'the event is no longer stored, or the owner no longer sees it';
    await abandonDelivery(services, delivery, error);
    return;
  }
  const body = JSON.stringify({ id: delivery.id, webhook_id: delivery.webhook_id, ...event });
  const attempt = await send(services, delivery, body, signal);
  if (signal.aborted && attempt.status === null) await releaseDelivery(services, delivery);
  else await settleDelivery(services, delivery, attempt);
}

async function send(
  { outbound, secrets }: Services,
  delivery: ClaimedDelivery,
  body: string,
  signal: AbortSignal,
): Promise<Attempt> {
  const context = secretContext(delivery.webhook_id);
  const live = [delivery.secret, delivery.previous_secret].flatMap((sealed) =>
    sealed === null ? [] : [secrets.open(sealed, context)],
  );
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const { status, headers } = await outbound.request(delivery.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Estate/${appVersion}`,
        'estate-delivery': delivery.id,
        'estate-event': delivery.event_type,
        ...(delivery.position === null ? {} : { 'estate-position': String(delivery.position) }),
        'estate-signature': signBody(live, body, Math.floor(Date.now() / 1000)),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    const failed = status < 200 || status > 299;
    const error = failed ? `the receiver responded with ${status}` : null;
    return { status, error, ms: took(), ...retryAfter(status, headers['retry-after']) };
  } catch (error) {
    return { status: null, error: reasonOf(error), ms: took() };
  }
}

function retryAfter(status: number, header: string | undefined): { retryAfter?: number } {
  const seconds = Number(header);
  return (status === 429 || status === 503) && seconds > 0 ? { retryAfter: seconds } : {};
}

/** The error for the delivery log, without addresses of internal networks. */
function reasonOf(error: unknown): string {
  if (error instanceof OutboundRefusal) return error.message;
  if ((error as Error).name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`;
  return 'the receiver could not be reached';
}

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

/**
 * The signature header of a body: `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`, with one
 * `v1` for each valid secret.
 */
export function signBody(secrets: readonly string[], body: string, seconds: number): string {
  return [`t=${seconds}`, ...secrets.map((secret) => `v1=${hmac(secret, `${seconds}.${body}`)}`)].join(',');
}
