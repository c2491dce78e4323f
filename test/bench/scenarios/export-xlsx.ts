import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { exportByJob, measureWork } from '../harness/export.ts';
import { smallOf, startLoaded } from '../harness/loaded.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';
import type { XlsxFloor } from '../harness/xlsx-floor.ts';

const MB = 1_000_000;
const ROUNDS = 3;
/** So many processes each, since what a collector of garbage leaves differs from process to process. */
const PROCESSES = 3;
const floorProgram = path.join(import.meta.dirname, '../harness/xlsx-floor.ts');
const runFile = promisify(execFile);

/** By how much a worker that has written a few cards grows while it writes all of so many, in bytes: the middle of some. */
async function workerGrowth({ args }: Context, cards: number): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const service = await startLoaded(resources, args, cards, 'api');
  const each: number[] = [];
  for (let process = 0; process < PROCESSES; process += 1) {
    const worker = await service.join('worker');
    // it has begun when this is there
    await exportByJob(service.api, 'xlsx', { types: ['Platform'] });
    const memory = sampleMemory([worker.pid]);
    for (let round = 0; round < ROUNDS; round += 1) await exportByJob(service.api, 'xlsx');
    each.push(memory.stop().growthBytes);
    await worker.stop();
  }
  return median(each);
}

async function run(context: Context): Promise<Row[]> {
  const { service, args, loadLandscape } = context;
  await loadLandscape();
  const floors: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await runFile(process.execPath, [floorProgram, service.databaseUrl]);
    floors.push((JSON.parse(stdout) as XlsxFloor).ms);
    const { ms } = await measureWork(service.pid, 1, async () => {
      await exportByJob(service.api, 'xlsx');
    });
    times.push(ms);
  }
  const value = (await workerGrowth(context, args.cards)) / MB;
  const floor = (await workerGrowth(context, smallOf(args))) / MB;
  return [
    under({ figure: 'XLSX of all', value: median(times), unit: 'ms', floor: median(floors) }, 1.5),
    under(
      { figure: 'XLSX of all, memory growth beside a fifth of the cards', value, unit: 'MB', floor },
      1.2,
    ),
  ];
}

/** All cards as XLSX by a job, beside the library's own writer on the same cells in a process of its own. */
export const exportXlsx = { name: 'export-xlsx', run };
