import { parentPort, workerData } from 'node:worker_threads';
import type { Column } from '../extraction.types.ts';
import { rowGroups } from './parquet.group.ts';
import type { GroupLines } from './parquet.threads.ts';

const rowGroup = rowGroups(workerData as Column[]);

parentPort!.on('message', ({ lines, rows }: GroupLines) => {
  const group = rowGroup(lines, rows);
  parentPort!.postMessage(group, [group.bytes.buffer]);
});
