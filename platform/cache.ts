import { Redis } from 'ioredis';
import type { Logger } from './logging.ts';

/** Values that can always be computed again: losing any of them costs time only. */
export interface Cache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** @throws Error when the cache does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

/** A cache in the process's own memory; the values unused for longest go first. */
export function createMemoryCache(limitBytes = MEMORY_LIMIT_BYTES): Cache {
  const entries = new Map<string, { value: string; until: number }>();
  let bytes = 0;
  const size = (key: string, value: string) => 2 * (key.length + value.length);
  const drop = (key: string) => {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    bytes -= size(key, entry.value);
  };
  return {
    async get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (entry.until < Date.now()) {
        bytes -= size(key, entry.value);
        return undefined;
      }
      entries.set(key, entry);
      return entry.value;
    },
    async set(key, value, ttlSeconds) {
      drop(key);
      if (size(key, value) > limitBytes / 4) return;
      entries.set(key, { value, until: Date.now() + ttlSeconds * 1000 });
      bytes += size(key, value);
      for (const oldest of entries.keys()) {
        if (bytes <= limitBytes) break;
        drop(oldest);
      }
    },
    async ping() {},
    async close() {
      entries.clear();
    },
  };
}

/**
 * A cache on Redis. When Redis is away reads miss and writes are let go; callers compute.
 * @param namespace keeps installations apart that share one Redis.
 */
export function createRedisCache(url: string, namespace: string, log: Logger): Cache {
  const redis = new Redis(url, {
    keyPrefix: `estate:${namespace}:cache:`,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
  });
  let reported = false;
  redis.on('error', (error: Error) => {
    if (!reported) log.warn({ err: error }, 'the cache on Redis is away; results are computed each time');
    reported = true;
  });
  redis.on('ready', () => {
    reported = false;
  });
  return {
    async get(key) {
      return (await redis.get(key).catch(() => null)) ?? undefined;
    },
    async set(key, value, ttlSeconds) {
      await redis.set(key, value, 'EX', ttlSeconds).catch(() => undefined);
    },
    async ping() {
      await redis.ping();
    },
    async close() {
      redis.disconnect();
    },
  };
}
