import { claimDeliveries } from '../domain/collaboration/webhooks/deliveries.claim.ts';
import { planDeliveries } from '../domain/collaboration/webhooks/deliveries.plan.ts';
import type { Services } from '../domain/kernel/services.ts';
import { deliver } from '../integrations/webhooks/deliver.ts';
import { type Loop, startLoop } from './loop.ts';

/** Deliveries that one process makes at the same time. */
const CONCURRENCY = 8;

/**
 * Plans and makes the deliveries of webhooks. Any number of processes share the work; deliveries of a process that ends are made
 * again by another.
 */
export function startWebhooks(services: Services): Pick<Loop, 'stop'> {
  const running = new Set<Promise<void>>();

  const start = (work: Promise<void>) => {
    const tracked = work
      // the lease expires, and another attempt follows
      .catch((error) => services.log.warn({ err: error }, 'a webhook delivery was interrupted'))
      .finally(() => {
        running.delete(tracked);
        loop.wake(0);
      });
    running.add(tracked);
  };

  const loop = startLoop(
    {
      ...services,
      channel: 'estate_feed',
      // also for deliveries whose next attempt becomes due
      pollMs: 2_000,
      delayMs: 50,
      failure: 'webhooks could not be processed; trying again',
    },
    async (stop) => {
      for (;;) {
        const hasMore = await planDeliveries(services);
        const free = CONCURRENCY - running.size;
        if (free <= 0 || stop.aborted) return;
        const claimed = await claimDeliveries(services, free);
        for (const delivery of claimed) start(deliver(services, delivery, stop));
        if (!hasMore && claimed.length < free) return;
      }
    },
  );

  return {
    async stop() {
      await loop.stop();
      await Promise.all(running);
    },
  };
}
