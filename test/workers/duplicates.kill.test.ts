// @redis
import { expect, it } from 'vitest';
import { closeAfterAll, createTestApp } from '../support/harness.ts';
import { killableWorkers, killWorker, survivingWorker } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const startWorker = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

const t = closeAfterAll(await createTestApp());
await t.services.db.raw(
  `insert into cards (type, name, description, data_quality)
     select type, md5('a' || (n / 2)::text) || ' ' || md5('b' || (n / 2)::text) || case n % 2 when 0 then '' else ' x' end, md5(n::text), 0
     from unnest(array['Application', 'Provider']) type, generate_series(1, 800) n`,
);

it('a search whose worker is killed goes on, and comes to what it would have come to', async () => {
  const admin = await t.as('admin');
  const { db } = t.services;
  const base = '/api/v1/ai-analysis';
  const start = async () =>
    (
      await admin.post(`${base}/duplicates/analyse`, {
        card_types: ['Application', 'Provider'],
        mode: 'everything',
      })
    ).body;
  const ended = async (id: string) =>
    await until('the run to end', async () => {
      const { body } = await admin.get(`${base}/analysis-runs/${id}`);
      return body.status === 'completed' ? body : undefined;
    });
  const state = async () => await db('duplicate_pairs').orderBy('id');
  const worker = await startWorker();
  const { run_id, job_id } = await start();
  await until(
    'one type',
    async () => (await db('jobs').where({ id: job_id }).first()).checkpoint?.done?.Application,
  );
  await killWorker(t.services, worker);
  await goOn();
  const run = await ended(run_id);
  expect(run.results).toMatchObject({ cards: 1_600, types: { Provider: { cards: 800 } } });
  const found = await state();
  expect(found.length).toBeGreaterThan(500);
  expect(await db('analysis_parts')).toEqual([]);
  // undisturbed
  const again = await ended((await start()).run_id);
  expect(again.model_version).toBe(run.model_version);
  expect(await state()).toEqual(found);
});
