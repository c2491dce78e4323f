import { followFeed } from '../domain/collaboration/notifications/notifications.follow.ts';
import type { Services } from '../domain/kernel/services.ts';

/** Events that come one upon the other are told of together. */
const GATHER_MS = 200;
/** How soon is looked without a signal: for mails whose time has come, and for signals that were lost. */
const LOOK_MS = 10_000;

export interface Notifier {
  stop(): Promise<void>;
}

/**
 * Makes notifications and their mails of what comes into the feed. Any number of processes may do so: the place in the
 * feed is one row, which one of them holds at a time.
 */
export function startNotifier(services: Services): Notifier {
  const { signals, log } = services;
  const stop = new AbortController();
  let round: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  const look = async () => {
    try {
      await followFeed(services, stop.signal);
      failing = false;
    } catch (error) {
      // nothing was written; the next look tries again
      if (!failing) log.warn({ err: error }, 'notifications could not be made; trying again');
      failing = true;
    }
  };

  const begin = () => {
    timer = undefined;
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
  const wake = () => {
    if (!stop.signal.aborted) timer ??= setTimeout(begin, GATHER_MS);
  };

  const unlisten = signals.on('estate_feed', wake);
  const looks = setInterval(wake, LOOK_MS);
  wake();

  return {
    async stop() {
      stop.abort();
      clearInterval(looks);
      clearTimeout(timer);
      unlisten();
      await round;
    },
  };
}
