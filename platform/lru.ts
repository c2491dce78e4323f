/** An in-memory cache limited in bytes, with LRU eviction. */
export interface Lru<V> {
  get(key: string): V | undefined;
  /** Stores the value, unless it alone would take more than a quarter of the limit. @returns whether it was stored. */
  set(key: string, value: V): boolean;
  delete(key: string): void;
  /** Size of all entries in bytes. */
  readonly bytes: number;
}

/** What an entry takes besides its key and value. */
const ENTRY_BYTES = 200;

/**
 * Used for every cache whose keys come from requests.
 * @param limitBytes of all entries together: keys, values, and some bytes for each entry.
 * @param sizeOf bytes of a value; it must not change while the value is kept.
 */
export function createLru<V>(limitBytes: number, sizeOf: (value: V) => number): Lru<V> {
  const entries = new Map<string, { value: V; size: number }>();
  let bytes = 0;
  const drop = (key: string) => {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get bytes() {
      return bytes;
    },
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      drop(key);
      const size = 2 * key.length + sizeOf(value) + ENTRY_BYTES;
      if (size > limitBytes / 4) return false;
      entries.set(key, { value, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= limitBytes) break;
        drop(oldest);
      }
      return true;
    },
    delete: drop,
  };
}
