// @redis
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { Services } from '../../domain/kernel/services.ts';
import { prepareDatabase } from '../../migrations/prepare.ts';
import { openDatabase } from '../../platform/database.ts';
import type { EmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { startWorkers } from '../../workers/runtime.ts';
import type { Child } from '../support/child.ts';
import { createTestServices, type TestServices } from '../support/harness.ts';
import { ask, startWorkerProcess, untilStatus } from '../support/jobs.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { numbersJob, numbersTable, processors } from './fixtures/numbers.processors.ts';

/** Undone in reverse order after each test. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** On Redis each test has a server of its own, which it may do anything to. */
async function ownRedis(): Promise<TestRedis | undefined> {
  if (!process.env.REDIS_URL) return undefined;
  const redis = await startRedis();
  undo.push(() => redis.remove());
  return redis;
}

async function worker(services: Services): Promise<Child> {
  const child = await startWorkerProcess(services, 'test/workers/fixtures/numbers.processors.ts');
  undo.push(async () => {
    child.kill('SIGKILL');
    await child.ended();
  });
  return child;
}

async function askMany(t: TestServices, jobs: number, rows: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < jobs; n += 1)
    ids.push(await ask(await t.ctx(), numbersJob, { rows, batch: 10, pauseMs: 5 }));
  return ids;
}

async function expectEachOnce(t: TestServices, ids: string[], rows: number): Promise<void> {
  for (const id of ids) await untilStatus(t.services, id, 'succeeded', 90_000);
  const { rows: counts } = await t.services.db.raw(`select count(*)::int as all, count(distinct (job_id,
      n))::int as distinct from numbers`);
  expect(counts[0]).toEqual({ all: ids.length * rows, distinct: ids.length * rows });
}

const written = async (t: TestServices) =>
  (await t.services.db.raw('select count(*)::int as n from numbers')).rows[0].n as number;

it('loses nothing when the queue forgets everything in mid-run', async () => {
  const redis = await ownRedis();
  const t = await createTestServices(redis ? { REDIS_URL: redis.url } : {});
  undo.push(() => t.close());
  await t.services.db.raw(numbersTable);
  const workers = await startWorkers(t.services, processors);
  undo.push(() => workers.close(3_000));
  const ids = await askMany(t, 6, 600);
  await until('the work to be in full swing', async () => (await written(t)) > 300);
  if (redis) await redis.empty();
  else await t.services.db.raw('truncate bullmq.job, bullmq.event cascade');
  await expectEachOnce(t, ids, 600);
}, 120_000);

it('goes on when PostgreSQL was stopped and started again under load', async () => {
  const redis = await ownRedis();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-recovery-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const open = () => openEmbeddedPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
  let server: EmbeddedPostgres = await open();
  undo.push(() => server.stop());
  const db = openDatabase({ url: server.url, name: 'test', poolMax: 2 });
  await prepareDatabase(db);
  await db.raw(numbersTable);
  await db.destroy();
  const t = await createTestServices(redis ? { REDIS_URL: redis.url } : {}, {
    url: server.url,
    drop: async () => undefined,
  });
  undo.push(() => t.close());
  const workers = [await worker(t.services), await worker(t.services)];
  const ids = await askMany(t, 8, 400);
  for (let round = 1; round <= 2; round += 1) {
    const before = await written(t);
    await until('the work to be in full swing', async () => (await written(t)) > before + 300);
    const url = server.url;
    await server.stop();
    for (const child of workers)
      await child.until(/lost its database|heartbeat of a job failed|could not be added to the queue/);
    server = await open();
    expect(server.url).toBe(url);
  }
  await expectEachOnce(t, ids, 400);
  // the workers themselves have lived through it
  expect(workers.map(({ process }) => process.exitCode)).toEqual([null, null]);
}, 180_000);

if (process.env.REDIS_URL) {
  it('goes on when Redis was killed and started again, empty, under load', async () => {
    const redis = (await ownRedis())!;
    const t = await createTestServices({ REDIS_URL: redis.url });
    undo.push(() => t.close());
    await t.services.db.raw(numbersTable);
    await worker(t.services);
    const ids = await askMany(t, 6, 1_000);
    await until('the work to be in full swing', async () => (await written(t)) > 300);
    await redis.kill();
    // what runs needs no queue
    const before = await written(t);
    await until('the running jobs to go on', async () => (await written(t)) > before + 100);
    ids.push(...(await askMany(t, 2, 1_000)));
    await redis.start();
    await expectEachOnce(t, ids, 1_000);
  }, 120_000);
}
