import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './processes.ts';
import { until } from './until.ts';

export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/** A Redis of the test's own, which may be emptied, killed and started again. */
export async function startRedis() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const kill = async () => {
    if (!server || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server!.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  const ask = async <T>(question: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  };
  const start = async () => {
    server = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      { stdio: 'ignore' },
    );
    await until('Redis to answer', () => ask((redis) => redis.ping()).catch(() => undefined));
  };
  await start();
  return {
    url,
    start,
    /** Ends it at once; nothing is kept. */
    kill,
    empty: async () => void (await ask((redis) => redis.flushall())),
    async remove() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
