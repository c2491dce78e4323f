import { applyTransfer } from '../../domain/app/workspace/transfer.commands.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { contentOf, exportArchive, transferOf, unpack, uploadArchive } from '../support/archives.ts';
import { fillWorkspace } from '../support/full-workspace.ts';
import { createTestApp, createTestServices, type TestApp, type TestServices } from '../support/harness.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { processors } from './fixtures/small-transfers.processors.ts';

const fixture = 'test/workers/fixtures/small-transfers.processors.ts';
let source: TestApp;
let target: TestServices;
const start = killableWorkers(() => target.services, fixture);
const goOn = survivingWorker(() => target.services, processors);

beforeAll(async () => {
  source = await createTestApp();
  target = await createTestServices();
  await fillWorkspace(source, 60);
}, 120_000);
afterAll(async () => {
  await source.close();
  await target.close();
});

it('goes on from where it was however often its worker is killed, and tells nothing twice', async () => {
  const ctx = await target.ctx();
  const archive = await exportArchive(source.services, await source.ctx());
  const reader = await startWorkers(target.services);
  const { id, diff } = await uploadArchive(target.services, ctx, archive);
  await reader.close(5_000);
  await applyTransfer(ctx, id);
  const { job_id } = await transferOf(ctx, id);
  for (let kill = 1; kill <= 2; kill += 1) {
    const worker = await start();
    const before = (await jobRow(target.services, job_id)).progress;
    await until('the transfer to go on', async () => {
      const { progress, status } = await jobRow(target.services, job_id);
      return progress > before + 0.05 || status === 'succeeded';
    });
    await killWorker(target.services, worker);
  }
  await goOn();
  expect((await untilStatus(target.services, job_id, 'succeeded', 60_000)).crashes).toBeGreaterThan(0);
  const { status, result } = await transferOf(ctx, id);
  expect([status, result!.left]).toEqual(['applied', []]);
  expect(result!.kinds).toEqual(diff!.kinds);
  const again = await unpack(await exportArchive(target.services, ctx));
  expect(contentOf(again)).toEqual(contentOf(await unpack(archive)));
  const { rows } = await target.services.db.raw(`select data ->> 'id' as id from events
      where event_type = 'card.created' group by 1 having count(*) > 1`);
  expect(rows).toEqual([]);
}, 180_000);
