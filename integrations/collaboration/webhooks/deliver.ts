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
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import { OutboundRefusal } from '../../../platform/outbound.ts';
import { type DeliveredMessage, signedMessage } from './messages.ts';

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
  const attempt = await send(services, delivery, await messageOf(services, delivery, event), signal);
  if (signal.aborted && attempt.status === null) await releaseDelivery(services, delivery);
  else await settleDelivery(services, delivery, attempt);
}

async function messageOf(
  { db }: Services,
  { id, webhook_id: webhookId, event_type, format }: ClaimedDelivery,
  event: Record<string, unknown>,
): Promise<DeliveredMessage> {
  const at = typeof event.at === 'string' ? event.at : new Date().toISOString();
  // only the source of CloudEvents names it
  const address = format === 'cloudevents' ? (await readSetting(db, 'email')).app_base_url : '';
  return { id, webhookId, event: { ...event, event_type }, at, base: address.replace(/\/+$/, '') };
}

async function send(
  { outbound, secrets }: Services,
  delivery: ClaimedDelivery,
  message: DeliveredMessage,
  signal: AbortSignal,
): Promise<Attempt> {
  const context = secretContext(delivery.webhook_id);
  const live = [delivery.secret, delivery.previous_secret].flatMap((sealed) =>
    sealed === null ? [] : [secrets.open(sealed, context)],
  );
  const written = signedMessage(delivery.format, message, live, Math.floor(Date.now() / 1000));
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const { status, headers } = await outbound.request(delivery.url, {
      method: 'POST',
      headers: {
        'user-agent': `Estate/${appVersion}`,
        ...written.headers,
      },
      body: written.body,
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
