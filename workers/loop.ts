import type { Logger } from '../platform/logging.ts';
import type { Signals } from '../platform/signals.ts';

/** A loop of a worker process. */
export interface Loop {
  /** Starts a round after `delayMs`; without it after the loop's own delay. */
  wake(delayMs?: number): void;
  /** Starts no further round and waits for the running one. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  signals: Signals;
  log: Logger;
  /** The channel whose signals start a round. */
  channel: string;
  /** A round also starts this often without a signal, since signals can be lost. */
  pollMs: number;
  /** How long after a signal a round starts, so that signals in quick succession share a round. */
  delayMs?: number;
  /** What the log says when a round fails; only the first of several failures in a row is logged. */
  failure: string;
}

/**
 * Runs rounds one after the other, at once and then on every signal. A wake during a round causes another round after it; a round
 * that fails is repeated by the next one.
 */
export function startLoop(
  { signals, log, channel, pollMs, delayMs = 0, failure }: LoopOptions,
  round: (stop: AbortSignal) => Promise<void>,
): Loop {
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isRequested = false;
  let isFailing = false;

  const run = async () => {
    try {
      await round(stop.signal);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, failure);
      isFailing = true;
    }
  };
  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    if (stop.signal.aborted) return;
    if (running) {
      isRequested = true;
      return;
    }
    running = run().finally(() => {
      running = undefined;
      if (!isRequested) return;
      isRequested = false;
      wake();
    });
  };
  const wake = (ms = delayMs) => {
    if (stop.signal.aborted) return;
    if (ms === 0) begin();
    else timer ??= setTimeout(begin, ms);
  };

  const unlisten = signals.on(channel, () => wake());
  const poll = setInterval(wake, pollMs);
  wake();

  return {
    wake,
    async stop() {
      stop.abort();
      clearInterval(poll);
      clearTimeout(timer);
      unlisten();
      await running;
    },
  };
}
