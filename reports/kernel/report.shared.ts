interface Work {
  result: Promise<Buffer>;
  stop: AbortController;
  waiting: number;
}

/** Makes something once for all who ask at the same time. */
export type Shared = (
  key: string,
  make: (signal: AbortSignal) => Promise<Buffer>,
  signal?: AbortSignal,
) => Promise<Buffer>;

/** Work that is shared under its key, and given up when nobody waits for it any more. */
export function createShared(): Shared {
  const running = new Map<string, Work>();

  const begin = (key: string, make: (signal: AbortSignal) => Promise<Buffer>): Work => {
    const stop = new AbortController();
    const work: Work = { result: make(stop.signal), stop, waiting: 0 };
    const over = () => {
      if (running.get(key) === work) running.delete(key);
    };
    work.result.then(over, over);
    running.set(key, work);
    return work;
  };

  return async (key, make, signal) => {
    signal?.throwIfAborted();
    const work = running.get(key) ?? begin(key, make);
    work.waiting += 1;
    const gone = Promise.withResolvers<never>();
    const leave = () => gone.reject(signal!.reason);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([work.result, gone.promise]);
    } finally {
      signal?.removeEventListener('abort', leave);
      work.waiting -= 1;
      if (work.waiting === 0 && running.get(key) === work) {
        running.delete(key);
        work.stop.abort();
      }
    }
  };
}
