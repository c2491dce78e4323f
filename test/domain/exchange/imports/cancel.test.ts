// @redis
import { cancelJob, retryJob } from '../../../../domain/kernel/jobs/jobs.commands.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { askImport, importResult, ndjson } from '../../../support/imports.ts';
import { jobRow, untilStatus } from '../../../support/jobs.ts';
import { until } from '../../../support/until.ts';
import { smallImports } from '../../../workers/fixtures/small-imports.processors.ts';

const t = closeAfterAll(await createTestServices());
closeAfterAll(await startWorkers(t.services, [smallImports(5)]));

it('keeps what was written before it was cancelled, says how much, and goes on when it is run again', async () => {
  const { db } = t.services;
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    type: 'Provider',
    external_id: `P-${n}`,
    name: n % 100 === 50 ? '' : `P ${n}`,
  }));
  const ctx = await t.ctx();
  const id = await askImport(ctx, t.services, ndjson(rows), { format: 'ndjson' });
  await until(
    'some rows to be written',
    async () => ((await jobRow(t.services, id)).counts?.created ?? 0) > 50,
  );
  await cancelJob(ctx, id);
  const cancelled = await untilStatus(t.services, id, 'cancelled');
  const created = Number((await db('cards').count())[0]!.count);
  expect(created).toBeLessThan(1_980);
  expect(cancelled.counts).toMatchObject({ total: 2_000, created, failed: 20 });
  expect(cancelled.message).toBe(`${created + 20} of 2000 rows`);

  await retryJob(ctx, id);
  const { job, report } = await importResult(t.services, id);
  expect(job.counts).toEqual({ total: 2_000, created: 1_980, updated: 0, unchanged: 0, failed: 20 });
  expect(report).toHaveLength(20);
  expect(Number((await db('events').where({ event_type: 'card.created' }).count())[0]!.count)).toBe(1_980);
});
