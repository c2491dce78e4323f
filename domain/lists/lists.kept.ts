/** Results that are kept by a key which changes with everything they depend on, such as topic versions. */
export interface Kept<T> {
  /** The kept result, or a computed one; concurrent callers share one computation. */
  get(key: string, compute: () => Promise<T>): Promise<T>;
}

/** Keeps results up to `limit` in sum of `size`; those unused for longest go first. Failures are not kept. */
export function createKept<T>(limit: number, size: (value: T) => number): Kept<T> {
  const entries = new Map<string, { promise: Promise<T>; size: number }>();
  let total = 0;
  return {
    async get(key, compute) {
      const found = entries.get(key);
      if (found) {
        entries.delete(key);
        entries.set(key, found);
        return await found.promise;
      }
      const entry = { promise: compute(), size: 0 };
      entries.set(key, entry);
      try {
        const value = await entry.promise;
        if (entries.get(key) === entry) {
          entry.size = size(value);
          total += entry.size;
          for (const [oldest, { size: freed }] of entries) {
            if (total <= limit || oldest === key) break;
            entries.delete(oldest);
            total -= freed;
          }
        }
        return value;
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
  };
}
