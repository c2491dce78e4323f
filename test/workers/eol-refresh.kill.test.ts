// @redis
import { eolRefreshJob } from '../../domain/governance/eol/eol.facts.ts';
import { startEndOfLife } from '../emulators/endoflife.ts';
import type { Child } from '../support/child.ts';
import { closeAfterAll, createTestApp } from '../support/harness.ts';
import {
  ask,
  jobRow,
  killableWorkers,
  letLeasesPass,
  survivingWorker,
  untilStatus,
} from '../support/jobs.ts';

const startWorker = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);
const names = Array.from({ length: 45 }, (_, n) => `product-${String(n).padStart(2, '0')}`);

// for the worker processes as well
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const t = closeAfterAll(await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const world = closeAfterAll(
  await startEndOfLife(
    names.map((name) => ({ name, releases: [{ name: '2', eolFrom: '2030-01-31' }, { name: '1' }] })),
  ),
);
await t.services.db('eol_products').delete();
await (await t.as('admin')).patch('/api/v1/settings/eol-source', { url: world.url });

afterAll(() => vi.unstubAllEnvs());

it('reads the facts of every product once into the store, however often its worker is killed', async () => {
  let worker: Child | undefined;
  const deaths = ['/products/product-13', '/products/product-25', '/products/product-44'];
  world.fault = (path) => {
    if (path !== deaths[0]) return undefined;
    deaths.shift();
    worker!.kill('SIGKILL');
    return 'cut';
  };
  const id = await ask(await t.ctx(), eolRefreshJob, {});
  const reached: unknown[] = [];
  for (let killed = 1; killed <= 3; killed += 1) {
    worker = await startWorker();
    await worker.ended();
    const { checkpoint } = await jobRow(t.services, id);
    reached.push((checkpoint as { after: string } | null)?.after ?? null);
    await letLeasesPass(t.services);
  }
  expect(reached).toEqual([null, 'product-19', 'product-39']);
  world.asked.length = 0;
  await goOn();
  const row = await untilStatus(t.services, id, 'succeeded');
  // the counts are those of one run
  expect(row.counts).toEqual({ products: 45, changed: 45, unchanged: 0, missing: 0, failed: 0 });
  expect(row.failures).toBe(0);
  expect(world.asked.map(({ path }) => path).toSorted()).toEqual(
    ['/products', ...names.slice(40).map((name) => `/products/${name}`)].toSorted(),
  );
  const stored = await t.services
    .db('eol_cycles')
    .whereLike('product', 'product-%')
    .orderBy(['product', 'cycle'])
    .select('product', 'cycle');
  expect(stored.map(({ product, cycle }) => `${product} ${cycle}`)).toEqual(
    names.flatMap((name) => [`${name} 1`, `${name} 2`]),
  );
  const told = await t.services.db('events').where({ event_type: 'eol_facts.loaded', job_id: id });
  expect(told.flatMap(({ data }) => data.products).toSorted()).toEqual(names);
  const ends = await t.services.db('events').where({ event_type: 'job.succeeded', job_id: id });
  expect(ends.length).toBeLessThanOrEqual(1);
}, 120_000);
