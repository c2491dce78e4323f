import { changeSetting } from '../../../../domain/app/settings/settings.change.ts';
import { eolRefreshJob } from '../../../../domain/governance/eol/eol.facts.ts';
import { processes } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { retryAfterMs } from '../../../../integrations/governance/eol/eol.client.ts';
import { refreshFacts } from '../../../../integrations/governance/eol/eol.refresh.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { type EndOfLifeEmulator, startEndOfLife } from '../../../emulators/endoflife.ts';
import { closeAfterAll, openApp } from '../../../support/harness.ts';
import { ask, type JobRow, jobRow, untilStatus } from '../../../support/jobs.ts';
import { until } from '../../../support/until.ts';

// long enough for an answer on a busy machine; two requests in all are left to hang
const hasty = { timeoutMs: 1_500, attempts: 2, pauseMs: 5, longestWaitMs: 50 };

let world: EndOfLifeEmulator;

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(
  await startWorkers(t.services, [
    processes(eolRefreshJob, (job, services) => refreshFacts(job, services, hasty)),
  ]),
);

beforeEach(async () => {
  await db('eol_products').delete();
  world = await startEndOfLife(
    Array.from({ length: 25 }, (_, n) => ({
      name: `product-${String(n).padStart(2, '0')}`,
      label: `Product ${n}`,
      aliases: [`thing-${n}`],
      releases: [
        { name: '2', eolFrom: '2030-01-31', isEoas: false, eoasFrom: '2029-01-31', isLts: true },
        { name: '1', isEol: true, eolFrom: null, latest: { name: '1.9', date: '2024-02-01', link: null } },
      ],
    })),
  );
  await (await t.as('admin')).patch('/api/v1/settings/eol-source', { url: world.url });
});
afterEach(() => world.close());

const start = async () => await ask(await t.ctx(), eolRefreshJob, {});
const run = async (): Promise<JobRow> => await untilStatus(t.services, await start(), 'succeeded');
const cycles = async (product: string) =>
  (await (await t.as('viewer')).get(`/api/v1/eol/products/${product}`)).body.items;

it('reads every product, and the next time only what has changed', async () => {
  const first = await run();
  expect(first.counts).toEqual({ products: 25, changed: 25, unchanged: 0, missing: 0, failed: 0 });
  expect(await cycles('product-07')).toEqual([
    expect.objectContaining({ cycle: '2', eol: '2030-01-31', support: '2029-01-31', lts: true }),
    expect.objectContaining({
      cycle: '1',
      eol: true,
      latest: '1.9',
      latestReleaseDate: '2024-02-01',
      support: null,
    }),
  ]);
  expect(await cycles('thing-7')).toHaveLength(2);
  const events = await db('events').where({ event_type: 'eol_facts.loaded', job_id: first.id });
  expect(events.map(({ scope }) => scope)).toEqual(['audit', 'audit']);
  expect(events.flatMap(({ data }) => data.products)).toHaveLength(25);

  world.products.get('product-07')!.releases[0]!.eolFrom = '2031-06-30';
  world.products.delete('product-08');
  world.asked.length = 0;
  const second = await run();
  expect(second.counts).toEqual({ products: 24, changed: 1, unchanged: 23, missing: 0, failed: 0 });
  expect(world.asked.filter(({ status }) => status === 304)).toHaveLength(23);
  expect((await cycles('product-07')).find(({ cycle }: { cycle: string }) => cycle === '2').eol).toBe(
    '2031-06-30',
  );
  // what the source no longer lists stays known, since cards may be linked to it
  expect(await cycles('product-08')).toHaveLength(2);
  const told = await db('events').where({ event_type: 'eol_facts.loaded', job_id: second.id });
  expect(told.map(({ data }) => data)).toEqual([{ source: 'api', products: ['product-07'] }]);
});

it('asks by date where there is no tag', async () => {
  const [one] = world.products.values();
  one!.lastModified = 'Thu, 01 Jan 2026 00:00:00 GMT';
  await run();
  await db('eol_products').update({ etag: null });
  world.asked.length = 0;
  await run();
  expect(world.asked.filter(({ status }) => status === 304).map(({ path }) => path)).toEqual([
    `/products/${one!.name}`,
  ]);
});

it('keeps the former facts of what cannot be read, and says so', async () => {
  await run();
  for (const product of world.products.values()) product.releases[0]!.eolFrom = '2032-01-01';
  world.products.get('product-05')!.releases[0]!.eolFrom = 'soon';
  world.fault = (path, count) => {
    if (path === '/products/product-01') return 500;
    if (path === '/products/product-02') return 'hang';
    if (path === '/products/product-03') return 'cut';
    if (path === '/products/product-04') return 'nonsense';
    if (path === '/products/product-06') return 404;
    // met once more, these answer
    if (path === '/products/product-09' && count % 2 === 0) return 503;
    if (path === '/products/product-10' && count % 2 === 0) return { status: 429, retryAfter: 0 };
    if (path === '/products/product-11') return { redirect: `${world.url}/products/product-11/` };
    return undefined;
  };
  world.fault = withoutLoop(world.fault);
  const row = await run();
  expect(row.counts).toEqual({ products: 25, changed: 19, unchanged: 0, missing: 1, failed: 5 });
  expect(row.message).toBe('19 of 25 products have new data; 5 could not be read and are unchanged');
  const failed = ['01', '02', '03', '04', '05'].map((n) => `product-${n}`);
  expect(row.result).toMatchObject({ failed_products: failed });
  const ends = await db('eol_cycles')
    .where({ cycle: '2', eol_from: '2030-01-31' })
    .orderBy('product')
    .pluck('product');
  expect(ends).toEqual([...failed, 'product-06']);
});

/** A redirect leads to the same path; the second request of a pair is answered. */
function withoutLoop(fault: EndOfLifeEmulator['fault']): EndOfLifeEmulator['fault'] {
  return (path, count) => {
    const found = fault(path, count);
    return typeof found === 'object' && 'redirect' in found && count % 2 === 1 ? undefined : found;
  };
}

it('fails after some tries when the source does not answer, and goes on where it stood when told to pause', async () => {
  world.fault = () => 500;
  const failing = await start();
  await until('a failed try', async () => (await jobRow(t.services, failing)).failures > 0);
  await db('jobs').where({ id: failing }).update({ failures: 5 });
  const failed = await until('the end', async () => {
    const row = await jobRow(t.services, failing);
    return row.status === 'failed' && row;
  });
  expect(failed.error).toEqual({
    code: 'upstream_failed',
    message: 'The source of product data failed: it responded with 500.',
  });

  let pausing = true;
  world.fault = (path) =>
    pausing && path === '/products/product-22' ? { status: 429, retryAfter: 3600 } : undefined;
  const paused = await start();
  await until('the pause', async () => (await jobRow(t.services, paused)).failures > 0);
  expect((await jobRow(t.services, paused)).checkpoint).toEqual({ after: 'product-19', failed: [] });
  pausing = false;
  world.asked.length = 0;
  const row = await untilStatus(t.services, paused, 'succeeded');
  expect(row.counts).toMatchObject({ products: 25, changed: 25 });
  expect(world.asked.map(({ path }) => path)).not.toContain('/products/product-19');
});

it('reads nothing without a source, and only addresses that may be called', async () => {
  await admin.patch('/api/v1/settings/eol-source', { url: '' });
  expect((await run()).counts).toEqual({ products: 0 });
  expect(world.asked).toEqual([]);
  // as it is stored when OUTBOUND_ALLOW is narrowed after the address was checked
  const url = 'http://10.0.0.1/api/v1';
  await changeSetting(await t.ctx(), t.services.secrets, 'eol_source', { url });
  const refused = await start();
  await until('a failed try', async () => (await jobRow(t.services, refused)).failures > 0);
  expect((await admin.post(`/api/v1/jobs/${refused}/cancel`)).status).toBeLessThan(300);
});

it('reads how long to wait', () => {
  expect(retryAfterMs(undefined)).toBeUndefined();
  expect(retryAfterMs('7')).toBe(7000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:10 GMT', Date.parse('2026-01-01T00:00:00Z'))).toBe(10_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:00 GMT', Date.parse('2026-01-02T00:00:00Z'))).toBe(0);
  expect(retryAfterMs('soon')).toBeUndefined();
});
