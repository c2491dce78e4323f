import {
  type ClaimedDelivery,
  claimDeliveries,
  planDeliveries,
} from '../../domain/collaboration/webhooks/deliveries.claim.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { deliver } from '../../integrations/collaboration/webhooks/deliver.ts';
import { type Loop, startLoop } from '../loop.ts';

/** Maximum concurrent deliveries of one process, and those of webhooks whose last attempt failed. */
const CONCURRENCY = { all: 12, failing: 4 };

/**
 * Plans and sends the deliveries of webhooks. Any number of processes share the work; unfinished deliveries of a
 * process that stops are sent by another.
 */
export function startWebhooks(services: Services): Pick<Loop, 'stop'> {
  const running = new Map<Promise<void>, ClaimedDelivery>();

  const start = (delivery: ClaimedDelivery, stop: AbortSignal) => {
    const tracked = deliver(services, delivery, stop)
      // The lease expires, and another attempt follows.
      .catch((error) => services.log.warn({ err: error }, 'a webhook delivery was interrupted'))
      .finally(() => {
        running.delete(tracked);
        loop.wake(0);
      });
    running.set(tracked, delivery);
  };

  const loop = startLoop(
    {
      ...services,
      channel: 'estate_feed',
      // Also for deliveries whose next attempt becomes due.
      pollMs: 2_000,
      delayMs: 50,
      failure: 'webhooks could not be processed; trying again',
    },
    async (stop) => {
      for (;;) {
        const hasMore = await planDeliveries(services);
        const free = CONCURRENCY.all - running.size;
        if (free <= 0 || stop.aborted) return;
        const failing = [...running.values()].filter((delivery) => delivery.failing).length;
        const claimed = await claimDeliveries(services, free, CONCURRENCY.failing - failing);
        for (const delivery of claimed) start(delivery, stop);
        if (!hasMore && claimed.length < free) return;
      }
    },
  );

  return {
    async stop() {
      await loop.stop();
      await Promise.all(running.keys());
    },
  };
}
