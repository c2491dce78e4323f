// @redis
import { retryJob } from '../../../../domain/kernel/jobs/jobs.commands.ts';
import { openImports } from '../../../support/imports.ts';
import { untilStatus } from '../../../support/jobs.ts';
import { until } from '../../../support/until.ts';
import { smallImports } from '../../../workers/fixtures/small-imports.processors.ts';

const { t, imports } = await openImports([smallImports(10)]);

const apps = (prefix: string, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({
    type: 'Application',
    external_id: `${prefix}-${n}`,
    name: `${prefix} ${n}`,
    ...more,
  }));
const count = async (table: string) => Number((await t.services.db(table).count())[0]!.count);

it('writes all rows, with their events in one piece of the feed', async () => {
  expect((await imports.run(apps('A', 35), { atomic: true })).job).toMatchObject({
    counts: { total: 35, created: 35, updated: 0, unchanged: 0, failed: 0 },
    result: { written: true, atomic: true },
    progress: 1,
  });
  const positions: number[] = (await imports.events()).map((event) => event.position);
  expect(positions).toEqual(Array.from({ length: 35 }, (_, n) => positions[0]! + n));
  expect((await imports.card('A-34')).created_by).toBeNull();
  // success is committed together with the cards; what was staged goes right after
  await until('what was staged to be removed', async () => (await count('import_card_rows')) === 0);
});

it('writes none when a row fails, and says which', async () => {
  const rows = [...apps('B', 30), { type: 'Application', external_id: 'A-1', name: 'again' }];
  const cards = await count('cards');
  const { job, faults, report } = await imports.run(rows, { atomic: true, report: 'all' });
  expect(job).toMatchObject({
    status: 'failed',
    outcome: null,
    error: { code: 'nothing_written', message: 'Nothing was written: 1 of 31 rows failed' },
    message: 'Nothing was written: 1 of 31 rows failed',
    counts: { total: 31, created: 0, updated: 0, unchanged: 0, failed: 1 },
    result: { written: false },
  });
  expect(faults).toEqual({ 31: ['external_id external_id_taken'] });
  expect(report.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(30);
  expect(await count('cards')).toBe(cards);
  expect(await imports.events()).toEqual([]);
});

it('can be run again once what was in the way is gone, and writes one batch of so many rows', async () => {
  const { db } = t.services;
  const rows = [...apps('R', 3), { type: 'Application', external_id: 'A-1', name: 'again' }];
  const { job } = await imports.run(rows, { atomic: true });
  expect(job.status).toBe('failed');
  await db('cards').where({ external_id: 'A-1' }).update({ external_id: 'A-1-gone' });
  await retryJob(await t.ctx(), job.id);
  expect(await untilStatus(t.services, job.id, 'succeeded')).toMatchObject({
    outcome: 'complete',
    error: null,
    counts: { total: 4, created: 4, failed: 0 },
  });
  expect(await db('mutation_batches').where({ id: job.id }).first('row_count')).toEqual({ row_count: 4 });
  await db('cards').where({ external_id: 'A-1-gone' }).update({ external_id: 'A-1-old' });
});

it('writes none when a row proves faulty only beside its card', async () => {
  await imports.run(apps('C', 25, { lifecycle: { active: '2020-01-01' } }));
  const rows = apps('C', 25, { description: 'new' });
  const late = { type: 'Application', external_id: 'C-24', lifecycle: { endOfLife: '2019-01-01' } };
  const options = { mode: 'upsert', atomic: true, report: 'all' } as const;
  const dry = await imports.run([...rows.slice(0, 24), late], { ...options, dry_run: true });
  const { job, faults, report } = await imports.run([...rows.slice(0, 24), late], options);
  expect(faults).toEqual({ 25: ['lifecycle.endOfLife lifecycle_order'] });
  expect(job.counts).toEqual({ total: 25, created: 0, updated: 0, unchanged: 0, failed: 1 });
  expect([dry.report, dry.job.counts]).toEqual([report, job.counts]);
  expect([dry.job.status, dry.job.error]).toEqual([job.status, job.error]);
  expect(await imports.events()).toEqual([]);
  expect((await imports.card('C-0')).description).toBeNull();
});
