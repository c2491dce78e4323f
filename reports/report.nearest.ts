/** Answers of the process's own, bounded by number and bytes; those unused for longest go first. */
export interface Nearest {
  get(key: string): Buffer | undefined;
  /** Keeps it, unless it alone is too large. */
  set(key: string, body: Buffer): void;
}

/** @param limits `each`: bytes of one answer; `bytes`: of all together. */
export function createNearest(limits: { entries: number; bytes: number; each: number }): Nearest {
  const entries = new Map<string, Buffer>();
  let bytes = 0;
  const drop = (key: string) => {
    bytes -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const body = entries.get(key);
      if (body !== undefined) {
        entries.delete(key);
        entries.set(key, body);
      }
      return body;
    },
    set(key, body) {
      drop(key);
      if (body.length > limits.each) return;
      entries.set(key, body);
      bytes += body.length;
      for (const oldest of entries.keys()) {
        if (bytes <= limits.bytes && entries.size <= limits.entries) break;
        drop(oldest);
      }
    },
  };
}
