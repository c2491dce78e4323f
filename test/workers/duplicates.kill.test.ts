// @redis
import { endOfRun } from '../support/analysis.ts';
import { openApp } from '../support/harness.ts';
import { killableWorkers, killWorker, survivingWorker } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const startWorker = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

const { t, db, admin } = await openApp(['admin']);
await db.raw(`insert into cards (type, name, description, data_quality)
     select type, md5('a' || (n / 2)::text) || ' ' || md5('b' || (n / 2)::text) || case n % 2 when 0 then '' else ' x' end, md5(n::text), 0
     from unnest(array['Application', 'Provider']) type, generate_series(1, 800) n`);

it('a search whose worker is killed goes on, and comes to what it would have come to', async () => {
  const start = async () =>
    (
      await admin.post('/api/v1/ai-analysis/duplicates/analyse', {
        card_types: ['Application', 'Provider'],
        mode: 'everything',
      })
    ).body;
  const state = async () => await db('duplicate_pairs').orderBy('id');
  const worker = await startWorker();
  const { run_id, job_id } = await start();
  await until(
    'one type',
    async () => (await db('jobs').where({ id: job_id }).first()).checkpoint?.done?.Application,
  );
  await killWorker(t.services, worker);
  await goOn();
  const run = await endOfRun(admin, run_id);
  expect(run).toMatchObject({
    status: 'completed',
    results: { cards: 1_600, types: { Provider: { cards: 800 } } },
  });
  const found = await state();
  expect(found.length).toBeGreaterThan(500);
  // undisturbed
  expect((await endOfRun(admin, (await start()).run_id)).model_version).toBe(run.model_version);
  expect(await state()).toEqual(found);
});
