// @redis

import { query } from '../../platform/database.ts';
import { closeAfterAll, createTestServices } from '../support/harness.ts';
import {
  ask,
  jobRow,
  killableWorkers,
  letLeasesPass,
  survivingWorker,
  untilStatus,
} from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { numbersJob, numbersTable, processors } from './fixtures/numbers.processors.ts';

const start = killableWorkers(() => t.services, 'test/workers/fixtures/numbers.processors.ts');
const goOn = survivingWorker(() => t.services, processors);

const t = closeAfterAll(await createTestServices());
await t.services.db.raw(numbersTable);

const written = async (id: string) => {
  const rows = await query(t.services.db).rows`
    select count(*)::int as all, count(distinct n)::int as distinct from numbers where job_id = ${id}`;
  return rows[0] as { all: number; distinct: number };
};

it('goes on from the checkpoint however often the worker is killed, and writes nothing twice', async () => {
  const rows = 2_000;
  const id = await ask(await t.ctx(), numbersJob, { rows, batch: 20, pauseMs: 2 });
  for (let kill = 1; kill <= 2; kill += 1) {
    const worker = await start();
    const before = (await written(id)).all;
    await until('the job to go on', async () => (await written(id)).all > before + 200);
    worker.kill('SIGKILL');
    await worker.ended();
    expect((await jobRow(t.services, id)).status).toBe('running');
    // the first time the lease passes by itself
    if (kill > 1) await letLeasesPass(t.services);
  }
  await goOn();
  const row = await untilStatus(t.services, id, 'succeeded');
  expect(await written(id)).toEqual({ all: rows, distinct: rows });
  expect(row).toMatchObject({ crashes: 2, failures: 0, progress: 1, counts: { written: rows } });
}, 150_000);

it('gives a job back at once when its worker is asked to end', async () => {
  const rows = 100_000;
  const first = await start();
  const id = await ask(await t.ctx(), numbersJob, { rows, batch: 50, pauseMs: 5 });
  await until('the job to run', async () => (await written(id)).all > 100);
  await goOn();
  first.kill('SIGTERM');
  expect((await first.ended()).code).toBe(0);
  const before = (await written(id)).all;
  await until('the other worker to go on', async () => (await written(id)).all > before);
  const { all, distinct } = await written(id);
  expect(all).toBe(distinct);
  expect(await jobRow(t.services, id)).toMatchObject({ crashes: 0, attempt: 2 });
}, 60_000);
