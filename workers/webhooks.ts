import { claimDeliveries } from '../domain/collaboration/webhooks/deliveries.claim.ts';
import { planDeliveries } from '../domain/collaboration/webhooks/deliveries.plan.ts';
import type { Services } from '../domain/kernel/services.ts';
import { deliver } from '../integrations/webhooks/deliver.ts';

/** Deliveries that one process has under way at once. */
const AT_ONCE = 8;
/** Events that come one upon the other are looked at together, after the first. */
const GATHER_MS = 50;
/** How soon is looked without a signal: for deliveries whose next attempt has come. */
const LOOK_MS = 2_000;

export interface WebhookSender {
  stop(): Promise<void>;
}

/**
 * Plans and makes deliveries for as long as there are any. Any number of processes share the work; what one of them had
 * under way when it ended is sent again by another.
 */
export function startWebhooks(services: Services): WebhookSender {
  const { signals, log } = services;
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  let round: Promise<void> | undefined;
  let again = false;
  let failing = false;
  let looked = Number.NEGATIVE_INFINITY;
  let later: NodeJS.Timeout | undefined;

  const start = (work: Promise<void>) => {
    const tracked = work
      // the lease ends, and another attempt follows
      .catch((error) => log.warn({ err: error }, 'a webhook delivery was interrupted'))
      .finally(() => {
        running.delete(tracked);
        wake();
      });
    running.add(tracked);
  };

  const look = async () => {
    looked = performance.now();
    try {
      let more = await planDeliveries(services);
      for (;;) {
        const free = AT_ONCE - running.size;
        const claimed = free > 0 && !stop.signal.aborted ? await claimDeliveries(services, free) : [];
        for (const delivery of claimed) start(deliver(services, delivery, stop.signal));
        if (!more && claimed.length < free) break;
        if (free <= 0 || stop.signal.aborted) break;
        if (more) more = await planDeliveries(services);
      }
      failing = false;
    } catch (error) {
      // the next look tries again
      if (!failing) log.warn({ err: error }, 'webhooks could not be looked at; trying again');
      failing = true;
    }
  };

  const wake = () => {
    if (stop.signal.aborted) return;
    if (round) {
      again = true;
      return;
    }
    round = look().finally(() => {
      round = undefined;
      if (!again) return;
      again = false;
      wake();
    });
  };

  const gather = () => {
    const waitMs = looked + GATHER_MS - performance.now();
    if (waitMs <= 0) return wake();
    later ??= setTimeout(() => {
      later = undefined;
      wake();
    }, waitMs);
  };

  const unlisten = signals.on('estate_feed', gather);
  const timer = setInterval(wake, LOOK_MS);
  wake();

  return {
    async stop() {
      stop.abort();
      clearInterval(timer);
      clearTimeout(later);
      unlisten();
      await round;
      await Promise.all(running);
    },
  };
}
