// @redis
import { randomUUID } from 'node:crypto';
import type { QueueBackend, QueuedRun, QueueWorker } from '../../platform/queue/queue.ts';
import { createQueueBackend } from '../../platform/queue/queue.ts';
import type { Loop } from '../../workers/loop.ts';
import { runName, startRelay } from '../../workers/relay.ts';
import { createTestServices, type TestServices } from '../support/harness.ts';
import { ask, jobRow } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { actJob } from './fixtures/numbers.processors.ts';

let t: TestServices;
let queue: QueueBackend;
let worker: QueueWorker | undefined;
let relays: Loop[] = [];
beforeEach(async () => {
  t = await createTestServices();
  const { redisUrl, databaseUrl } = t.services.config;
  queue = createQueueBackend({
    redisUrl,
    databaseUrl: databaseUrl!,
    namespace: randomUUID(),
    log: t.services.log,
  });
});
afterEach(async () => {
  for (const relay of relays) await relay.stop();
  relays = [];
  await worker?.close(true);
  worker = undefined;
  await queue.close();
  await t.close();
});

const start = (count: number) => {
  for (let n = 0; n < count; n += 1) relays.push(startRelay({ ...t.services, queue }));
};

it('hands each job over once, however many relays there are', async () => {
  const seen: string[] = [];
  worker = queue.worker('routine', 4, async (run) => {
    seen.push(runName(run));
    // as a worker would: what has begun is not handed over again
    await t.services.db('jobs').where({ id: run.id }).update({ status: 'succeeded' });
  });
  start(3);
  const ids = [];
  for (let n = 0; n < 40; n += 1) ids.push(await ask(await t.ctx(), actJob, { act: 'x' }));
  await until('all jobs', async () => seen.length >= ids.length);
  expect([...seen].sort()).toEqual(ids.map((id) => `${id}-1`).sort());
});

it('hands over under another name what a worker has taken and not begun', async () => {
  const seen: QueuedRun[] = [];
  // takes a run and is never heard of again
  worker = queue.worker('routine', 2, async (run) => {
    seen.push(run);
    await new Promise(() => undefined);
  });
  start(2);
  const id = await ask(await t.ctx(), actJob, { act: 'x' });
  await until('a second run', async () => seen.length === 2);
  expect(seen).toEqual([
    { id, attempt: 1 },
    { id, attempt: 2 },
  ]);
  expect(await jobRow(t.services, id)).toMatchObject({ status: 'queued', crashes: 0 });
});

it('gives back the run of a worker that fell silent, or ends it when it was cancelled', async () => {
  const [back, ended] = [
    await ask(await t.ctx(), actJob, { act: 'x' }),
    await ask(await t.ctx(), actJob, { act: 'x' }),
  ];
  const silent = { status: 'running', lease_owner: 'x', lease_until: new Date(Date.now() - 1000) };
  await t.services.db('jobs').where({ id: back }).update(silent);
  await t.services
    .db('jobs')
    .where({ id: ended })
    .update({ ...silent, cancel_requested: true });
  start(2);
  await until('both', async () => (await jobRow(t.services, back)).status === 'queued');
  expect(await jobRow(t.services, back)).toMatchObject({ attempt: 2, crashes: 1, lease_owner: null });
  await until('both', async () => (await jobRow(t.services, ended)).status === 'cancelled');
  expect(await jobRow(t.services, ended)).toMatchObject({ attempt: 1, crashes: 1, lease_owner: null });
});
