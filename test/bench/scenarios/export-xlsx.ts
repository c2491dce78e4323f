import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { exportByJob, measureWork } from '../harness/export.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';
import type { XlsxFloor } from '../harness/xlsx-floor.ts';

const MB = 1_000_000;
const ROUNDS = 3;
const floorProgram = path.join(import.meta.dirname, '../harness/xlsx-floor.ts');
const runFile = promisify(execFile);

async function run({ service, loadLandscape }: Context): Promise<Row[]> {
  await loadLandscape();
  const floors: number[] = [];
  const times: number[] = [];
  let growth = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await runFile(process.execPath, [floorProgram, service.databaseUrl]);
    floors.push((JSON.parse(stdout) as XlsxFloor).ms);
    const { ms, growthBytes } = await measureWork(service.pid, 1, async () => {
      await exportByJob(service.api, 'xlsx');
    });
    times.push(ms);
    growth = Math.max(growth, growthBytes);
  }
  return [
    under({ figure: 'XLSX of all', value: median(times), unit: 'ms', floor: median(floors) }, 1.5),
    under({ figure: 'XLSX of all, memory growth', value: growth / MB, unit: 'MB' }, 300),
  ];
}

/** All cards as XLSX by a job, beside the library's own writer on the same cells in a process of its own. */
export const exportXlsx = { name: 'export-xlsx', run };
