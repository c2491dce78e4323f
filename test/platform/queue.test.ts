// @redis
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { QueuedRun, QueueWorker } from '../../platform/queue/queue.ts';
import { createQueueBackend } from '../../platform/queue/queue.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const log = pino({ level: 'silent' });

const workers: QueueWorker[] = [];

const open = (redisUrl = process.env.REDIS_URL) =>
  createQueueBackend({ redisUrl, databaseUrl: database.url, namespace: randomUUID(), log });
const work = (handler: (run: QueuedRun) => Promise<void>, concurrency = 2) =>
  workers.push(queue.worker('bulk', concurrency, handler));

const database = await createTestDatabase();
const queue = open();

afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(true))));
afterAll(async () => {
  await queue.close();
  await database.drop();
});

it('brings each run to one worker, and forgets it when it has ended', async () => {
  const runs = Array.from({ length: 50 }, () => ({ id: randomUUID(), attempt: 1 }));
  const seen: string[] = [];
  for (let n = 0; n < 2; n += 1) work(async (run) => void seen.push(run.id));
  await Promise.all(runs.map((run) => queue.add('bulk', `${run.id}-1`, run)));
  await until('all runs', async () => seen.length >= runs.length);
  expect([...seen].sort()).toEqual(runs.map(({ id }) => id).sort());
  for (const { id } of runs) {
    await until('the run to be forgotten', async () => (await queue.state('bulk', `${id}-1`)) === 'missing');
  }
});

it('adds a run once while it knows it, and again when it has forgotten it', async () => {
  const id = randomUUID();
  const run = { id, attempt: 1 };
  expect(await queue.state('bulk', `${id}-1`)).toBe('missing');
  await queue.add('bulk', `${id}-1`, run);
  await queue.add('bulk', `${id}-1`, run);
  expect(await queue.state('bulk', `${id}-1`)).toBe('waiting');
  let count = 0;
  let release: () => void = () => undefined;
  work(async () => {
    count += 1;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  // the queue says that it is active a moment before the handler is called
  await until('the run', async () => count === 1);
  expect(await queue.state('bulk', `${id}-1`)).toBe('active');
  await queue.add('bulk', `${id}-1`, run);
  release();
  await until('its end', async () => (await queue.state('bulk', `${id}-1`)) === 'missing');
  expect(count).toBe(1);
  await queue.add('bulk', `${id}-1`, run);
  await until('the run again', async () => count === 2);
  release();
});

it('forgets a run whose handler fails', async () => {
  const id = randomUUID();
  let count = 0;
  work(async () => {
    count += 1;
    throw new Error('broken');
  });
  await queue.add('bulk', `${id}-1`, { id, attempt: 1 });
  await until('the run', async () => count === 1);
  await until('its end', async () => (await queue.state('bulk', `${id}-1`)) === 'missing');
});

it('waits for runs under way when it closes in order', async () => {
  const id = randomUUID();
  let ended = false;
  let begun = false;
  let release: () => void = () => undefined;
  const worker = queue.worker('bulk', 1, async () => {
    begun = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    ended = true;
  });
  await queue.add('bulk', `${id}-1`, { id, attempt: 1 });
  await until('the run', async () => begun);
  const closed = worker.close(false).then(() => ended);
  release();
  expect(await closed).toBe(true);
});

it('refuses while the queue is away, instead of waiting', async () => {
  const away = createQueueBackend(
    process.env.REDIS_URL
      ? { redisUrl: 'redis://127.0.0.1:1', databaseUrl: database.url, namespace: 'x', log }
      : {
          redisUrl: undefined,
          databaseUrl: 'postgres://nobody:nothing@127.0.0.1:1/none',
          namespace: 'x',
          log,
        },
  );
  await expect(away.add('bulk', 'a-1', { id: 'a', attempt: 1 })).rejects.toThrow();
  await expect(away.state('bulk', 'a-1')).rejects.toThrow();
  await away.close();
});
