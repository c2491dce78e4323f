import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Redis } from 'ioredis';
import type { Logger } from './logging.ts';
import { createLru } from './lru.ts';

/** A cache of values that can be recomputed: losing any of them only costs time. */
export interface Cache {
  get(key: string): Promise<string | undefined>;
  /**
   * Replaces what is stored under the key. A new version of a value is stored under the same key, so that no old
   * version takes up memory.
   * @returns whether it was stored: too large values are not.
   */
  set(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** @throws Error if the cache accepts no writes. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

const MEMORY_LIMIT_BYTES = 64 * 1024 * 1024;

/** A cache in the memory of the process with LRU eviction. */
export function createMemoryCache(limitBytes = MEMORY_LIMIT_BYTES): Cache {
  const entries = createLru<{ value: string; until: number }>(limitBytes, ({ value }) => 2 * value.length);
  return {
    async get(key) {
      const entry = entries.get(key);
      if (entry && entry.until >= Date.now()) return entry.value;
      entries.delete(key);
      return undefined;
    },
    async set(key, value, ttlSeconds) {
      return entries.set(key, { value, until: Date.now() + ttlSeconds * 1000 });
    },
    async probe() {},
    async close() {},
  };
}

/** Bytes in Redis, which the queue needs too: of one value, of all values, and what is counted besides the value. */
const SHARED = { value: 1024 * 1024, all: 64 * 1024 * 1024, overhead: 300 };
/** Shorter values are not compressed. */
const COMPRESSED_FROM = 4 * 1024;
/** Characters; longer values are not even compressed, which would take seconds. */
const LONGEST = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);
/** The first bytes of what gzip makes; no text begins with them. */
const isCompressed = (value: Buffer): boolean => value[0] === 0x1f && value[1] === 0x8b;

/**
 * Stores a value, and removes those unused for longest until all fit into the limit. The keys: the value's, a sorted set
 * of keys by last use, a hash of their bytes, the sum of the bytes. The arguments: value, bytes, seconds, limit.
 */
const STORE = `
  local time = redis.call('time')
  local known = tonumber(redis.call('hget', KEYS[3], KEYS[1]) or '0')
  local total = redis.call('incrby', KEYS[4], tonumber(ARGV[2]) - known)
  redis.call('hset', KEYS[3], KEYS[1], ARGV[2])
  redis.call('zadd', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), KEYS[1])
  while total > tonumber(ARGV[4]) do
    local oldest = redis.call('zpopmin', KEYS[2])[1]
    if not oldest then
      redis.call('set', KEYS[4], 0)
      break
    end
    total = redis.call('decrby', KEYS[4], tonumber(redis.call('hget', KEYS[3], oldest) or '0'))
    redis.call('hdel', KEYS[3], oldest)
    redis.call('unlink', oldest)
  end
  redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[3])
  for n = 2, 4 do redis.call('expire', KEYS[n], 172800) end`;

/**
 * A cache on Redis. If Redis is unavailable, reads miss and writes are skipped; callers compute.
 * @param namespace separates installations that share one Redis.
 */
export function createRedisCache(url: string, namespace: string, log: Logger): Cache {
  const redis = new Redis(url, {
    keyPrefix: `estate:${namespace}:cache:`,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    scripts: { storeValue: { lua: STORE, numberOfKeys: 4 } },
  }) as Redis & { storeValue(...keysAndArguments: (string | number | Buffer)[]): Promise<unknown> };
  let reported = false;
  redis.on('error', (error: Error) => {
    if (!reported) log.warn({ err: error }, 'the Redis cache is unavailable; results are computed each time');
    reported = true;
  });
  redis.on('ready', () => {
    reported = false;
  });
  return {
    async get(key) {
      const value = await redis.getBuffer(key).catch(() => null);
      if (value === null) return undefined;
      redis.zadd('~used', 'XX', Date.now(), `estate:${namespace}:cache:${key}`).catch(() => undefined);
      return String(isCompressed(value) ? await decompress(value) : value);
    },
    async set(key, value, ttlSeconds) {
      if (value.length > LONGEST) return false;
      const stored =
        value.length < COMPRESSED_FROM ? Buffer.from(value) : await compress(value, { level: 1 });
      if (stored.length > SHARED.value) return false;
      const bytes = stored.length + SHARED.overhead;
      const keys = [key, '~used', '~bytes', '~sum'];
      return await redis.storeValue(...keys, stored, bytes, ttlSeconds, SHARED.all).then(
        () => true,
        () => false,
      );
    },
    async probe() {
      await redis.set('~probe', 1, 'EX', 60);
    },
    async close() {
      redis.disconnect();
    },
  };
}
