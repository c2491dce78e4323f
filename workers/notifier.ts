import { followFeed } from '../domain/collaboration/notifications/notifications.follow.ts';
import type { Services } from '../domain/kernel/services.ts';
import { type Loop, startLoop } from './loop.ts';

/**
 * Creates notifications and their mails from new events. Any number of processes may run it: the position in the feed is one
 * row, which one of them locks at a time.
 */
export function startNotifier(services: Services): Loop {
  return startLoop(
    {
      ...services,
      channel: 'estate_feed',
      // also for mails that become due
      pollMs: 10_000,
      delayMs: 200,
      failure: 'notifications could not be created; trying again',
    },
    (stop) => followFeed(services, stop),
  );
}
