import { type Clock, DeadlinePassed } from '../../integrations/exchange/itsm/remote.ts';

interface Sleeper {
  at: number;
  order: number;
  /** A deadline never moves the time by itself: it passes when something else waits beyond it. */
  passive: boolean;
  wake: () => void;
}

export interface VirtualClock extends Clock {
  /** Waits on behalf of a remote that holds a request back; the request is not counted as under way meanwhile. */
  hold(ms: number, signal?: AbortSignal): Promise<void>;
  /** Moves the time on, waking those whose time has come. */
  advance(ms: number): void;
  /** Milliseconds waited through altogether. */
  waited(): number;
}

/**
 * A clock on which waiting takes no time: when nobody does anything but wait, it jumps to the next moment that somebody
 * waits for. A request under way (an open deadline whose answer no remote holds back) keeps it from jumping, so that an
 * answer is never late only because somebody else waits.
 */
export function createVirtualClock(start = Date.UTC(2026, 0, 5, 8)): VirtualClock {
  let now = start;
  let order = 0;
  let open = 0;
  let held = 0;
  let planned = false;
  const sleepers = new Set<Sleeper>();

  const next = (): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (!first || sleeper.at < first.at || (sleeper.at === first.at && sleeper.order < first.order))
        first = sleeper;
    }
    return first;
  };

  const jump = (): void => {
    planned = false;
    if (![...sleepers].some(({ passive }) => !passive) || open > held) return;
    const first = next()!;
    now = Math.max(now, first.at);
    sleepers.delete(first);
    first.wake();
    plan();
  };

  // two turns of the loop, so that all that is ready has run
  const plan = (): void => {
    if (planned) return;
    planned = true;
    setImmediate(() => setImmediate(jump));
  };

  const add = (ms: number, passive: boolean, wake: () => void): Sleeper => {
    const sleeper = { at: now + ms, order, passive, wake };
    order += 1;
    sleepers.add(sleeper);
    plan();
    return sleeper;
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = () => {
        sleepers.delete(sleeper);
        reject(signal!.reason);
      };
      const sleeper = add(Math.max(0, ms), false, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  };

  return {
    now: () => now,
    sleep,
    deadline(ms) {
      const controller = new AbortController();
      open += 1;
      let ended = false;
      const end = () => {
        if (ended) return;
        ended = true;
        open -= 1;
        sleepers.delete(sleeper);
        plan();
      };
      const sleeper = add(ms, true, () => {
        end();
        controller.abort(new DeadlinePassed(ms));
      });
      return { signal: controller.signal, clear: end };
    },
    async hold(ms, signal) {
      held += 1;
      plan();
      try {
        await sleep(ms, signal);
      } finally {
        held -= 1;
      }
    },
    advance(ms) {
      const until = now + ms;
      for (let first = next(); first && first.at <= until; first = next()) {
        now = Math.max(now, first.at);
        sleepers.delete(first);
        first.wake();
      }
      now = until;
    },
    waited: () => now - start,
  };
}

/** Holds an answer back on either clock; ends when the caller has gone. */
export const holdBack = (clock: Clock | VirtualClock, ms: number, gone: AbortSignal): Promise<void> =>
  'hold' in clock ? clock.hold(ms, gone) : clock.sleep(ms, gone);
