import { setTimeout as delay } from 'node:timers/promises';

/** Time as integrations see it, so that waiting can be made free where nothing real is waited for. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Aborts its signal when the time has passed; to be cleared when what it watches has ended. */
  deadline(ms: number): Deadline;
}

interface Deadline {
  signal: AbortSignal;
  clear(): void;
}

/** What the signal of a deadline is aborted with. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly ms: number;

  constructor(ms: number) {
    super(`no answer within ${ms / 1000} s`);
    this.ms = ms;
  }
}

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch {
      signal?.throwIfAborted();
    }
  },
  deadline(ms) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new DeadlinePassed(ms)), ms);
    timer.unref();
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  },
};
