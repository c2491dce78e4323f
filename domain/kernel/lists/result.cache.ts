import { createLru } from '../../../platform/lru.ts';

/** A cache of results by a key that changes with all data that they depend on, such as topic versions. */
export interface ResultCache<T> {
  /** The cached result, or a computed one; concurrent callers share one computation. */
  get(key: string, compute: () => Promise<T>): Promise<T>;
}

/**
 * Caches results and their keys up to `limitBytes`, with LRU eviction. Failures are not cached.
 * @param size size of a result in bytes.
 */
export function createResultCache<T>(limitBytes: number, size: (value: T) => number): ResultCache<T> {
  const results = createLru<{ value: T }>(limitBytes, ({ value }) => size(value));
  const running = new Map<string, Promise<T>>();
  return {
    async get(key, compute) {
      const found = results.get(key);
      if (found) return found.value;
      const under = running.get(key);
      if (under) return await under;
      const work = compute().finally(() => running.delete(key));
      running.set(key, work);
      const value = await work;
      results.set(key, { value });
      return value;
    },
  };
}
