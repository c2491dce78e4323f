import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { importFile, type Job, untilDone } from '../harness/api.ts';
import { connect } from '../harness/database.ts';
import { type MemoryReport, sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';
import { prepareWorkspace } from '../harness/workspace.ts';
import { writeLandscape } from '../landscape/csv.ts';

const MB = 1_000_000;

interface RolledBack {
  importMs: number;
  triedMs: number;
  doneMs: number;
  memory: MemoryReport;
  /** What was left of the import, and how much the try and the rollback differed. */
  faults: number;
}

async function rollBack(service: Service, id: string, dry_run: boolean): Promise<{ job: Job; ms: number }> {
  const start = performance.now();
  const path = `/mutation-batches/${id}/rollback`;
  const { job_id } = await service.api.post<{ job_id: string }>(path, { dry_run });
  const job = await untilDone(service.api, job_id);
  return { job, ms: performance.now() - start };
}

/** Imports cards into a fresh service and rolls the import back, after a try. */
async function importAndRollBack({ args }: Context, cards: number): Promise<RolledBack> {
  const out = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-rollback-'));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rm(out, { recursive: true, force: true }));
  const files = await writeLandscape({ out, cards, relations: 1, seed: args.seed });
  const service = resources.adopt(await startService(), (started) => started.stop());
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await prepareWorkspace(client);
  const start = performance.now();
  const imported = await importFile(service.api, 'cards', files.cardsFile);
  const importMs = performance.now() - start;
  const sampling = sampleMemory([service.pid]);
  const tried = await rollBack(service, imported.id, true);
  const done = await rollBack(service, imported.id, false);
  const memory = sampling.stop();
  const { rows } = await client.query<{ left: number }>('select count(*)::int as left from cards');
  const counts = (job: Job) => JSON.stringify(job.counts);
  const faults = rows[0]!.left + (counts(tried.job) === counts(done.job) ? 0 : 1);
  return { importMs, triedMs: tried.ms, doneMs: done.ms, memory, faults };
}

async function run(context: Context): Promise<Row[]> {
  const { cards } = context.args;
  const small = await importAndRollBack(context, Math.floor(cards / 5));
  const whole = await importAndRollBack(context, cards);
  const growth = (rolled: RolledBack) => rolled.memory.growthBytes / MB;
  context.log(
    `imported in ${Math.round(whole.importMs)} ms; a fifth grew by ${Math.round(growth(small))} MB to ${Math.round(small.memory.peakBytes / MB)} MB, all to ${Math.round(whole.memory.peakBytes / MB)} MB`,
  );
  const floor = whole.importMs;
  return [
    under(
      { figure: 'rollback of the import of all cards, tried', value: whole.triedMs, unit: 'ms', floor },
      4,
    ),
    under({ figure: 'rollback of the import of all cards', value: whole.doneMs, unit: 'ms', floor }, 4),
    under({ figure: 'rollback, memory growth', value: growth(whole), unit: 'MB' }, 200),
    within({ figure: 'cards left, and counts that differ', value: whole.faults, unit: '' }, 0, 0),
  ];
}

/** An import of all cards rolled back by a job, beside the import itself; on services of its own. */
export const rollback = { name: 'rollback', run };
