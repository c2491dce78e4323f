// @redis
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { createRedisCache } from '../../platform/cache.ts';
import { createTestApp } from '../support/harness.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Seconds. */
const HOUR = 3_600;

const server = await startRedis();
const redis = new Redis(server.url);
const cache = createRedisCache(server.url, 'test', pino({ level: 'silent' }));
await until('the cache to be connected', () =>
  cache.probe().then(
    () => true,
    () => false,
  ),
);

afterAll(async () => {
  await cache.close();
  redis.disconnect();
  await server.remove();
});
beforeEach(() => server.empty());

const memory = async () => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);
/** Text that hardly shrinks: three quarters of its length once compressed. */
const dense = (bytes: number) => randomBytes((bytes / 4) * 3).toString('base64');

it('gives back what was stored, long or short', async () => {
  for (const value of ['', 'short', 'ä€😀', 'x'.repeat(20 * MIB), dense(MIB)]) {
    expect(await cache.set('value', value, HOUR)).toBe(true);
    expect((await cache.get('value')) === value).toBe(true);
  }
});

it('replaces a value by its next version', async () => {
  const before = await memory();
  for (let version = 0; version < 20; version += 1) await cache.set('report', dense(MIB), HOUR);
  expect((await memory()) - before).toBeLessThan(3 * MIB);
});

it('does not store a value that takes more than a MiB', async () => {
  expect(await cache.set('large', dense(2 * MIB), HOUR)).toBe(false);
  expect(await cache.get('large')).toBeUndefined();
});

it('takes 64 MiB at most, and removes what was unused for longest', async () => {
  const before = await memory();
  await cache.set('used', 'kept', HOUR);
  await cache.set('unused', 'removed', HOUR);
  for (let n = 0; n < 100; n += 1) {
    await cache.set(`value ${n}`, dense(MIB), HOUR);
    await cache.get('used');
  }
  expect((await memory()) - before).toBeLessThan(90 * MIB);
  const kept = (await redis.keys('estate:test:cache:value *')).length;
  expect(kept).toBeGreaterThan(60);
  expect(kept).toBeLessThan(90);
  expect([await cache.get('used'), await cache.get('unused')]).toEqual(['kept', undefined]);
});

it('says that a full Redis accepts no write, and readiness does as well', async () => {
  const t = await createTestApp({ REDIS_URL: server.url });
  onTestFinished(() => t.close());
  const ready = () => t.anonymous.get('/api/health/ready');
  await until('readiness', async () => (await ready()).status === 200);
  await redis.config('SET', 'maxmemory', '1mb');
  await expect(cache.probe()).rejects.toThrow(/^OOM/);
  expect(await cache.set('value', 'anything', HOUR)).toBe(false);
  const refused = await until('readiness to fail', async () => {
    const answer = await ready();
    return answer.status === 503 && answer;
  });
  expect(refused.body.checks).toMatchObject({ database: 'ok', redis: 'refuses writes: its memory is full' });
  await redis.config('SET', 'maxmemory', '0');
  await until('readiness', async () => (await ready()).status === 200);
});
