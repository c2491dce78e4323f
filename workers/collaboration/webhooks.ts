import { claimDeliveries, planDeliveries } from '../../domain/collaboration/webhooks/deliveries.claim.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { deliver } from '../../integrations/collaboration/webhooks/deliver.ts';
import { type Loop, startLoop } from '../loop.ts';

/** Maximum concurrent deliveries of one process. */
const CONCURRENCY = 8;

/**
 * Plans and sends the deliveries of webhooks. Any number of processes share the work; unfinished deliveries of a
 * process that stops are sent by another.
 */
export function startWebhooks(services: Services): Pick<Loop, 'stop'> {
  const running = new Set<Promise<void>>();

  const start = (work: Promise<void>) => {
    const tracked = work
      // The lease expires, and another attempt follows.
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
      // Also for deliveries whose next attempt becomes due.
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
