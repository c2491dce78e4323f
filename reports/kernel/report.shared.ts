import { untilAborted } from '../../platform/within.ts';

interface Work {
  result: Promise<Buffer>;
  stop: AbortController;
  callers: number;
}

/** Executes `make` once for all concurrent callers with the same key. */
export type Shared = (
  key: string,
  make: (signal: AbortSignal) => Promise<Buffer>,
  signal?: AbortSignal,
) => Promise<Buffer>;

/** Shares work by its key; it is aborted when the signals of all callers are. */
export function createShared(): Shared {
  const running = new Map<string, Work>();

  const start = (key: string, make: (signal: AbortSignal) => Promise<Buffer>): Work => {
    const stop = new AbortController();
    const work: Work = { result: make(stop.signal), stop, callers: 0 };
    const end = () => {
      if (running.get(key) === work) running.delete(key);
    };
    work.result.then(end, end);
    running.set(key, work);
    return work;
  };

  return async (key, make, signal) => {
    signal?.throwIfAborted();
    const work = running.get(key) ?? start(key, make);
    work.callers += 1;
    try {
      return await untilAborted(work.result, signal);
    } finally {
      work.callers -= 1;
      if (work.callers === 0 && running.get(key) === work) {
        running.delete(key);
        work.stop.abort();
      }
    }
  };
}
