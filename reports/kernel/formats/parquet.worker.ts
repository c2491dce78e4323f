import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import type { Column } from './formats.types.ts';
import { type RowGroup, rowGroups } from './parquet.group.ts';
import type { GroupLines } from './parquet.threads.ts';

let known = '';
let rowGroup: ReturnType<typeof rowGroups>;

parentPort!.on('message', ({ columns, lines, rows }: GroupLines & { columns: Column[] }) => {
  try {
    const key = JSON.stringify(columns);
    if (key !== known) rowGroup = rowGroups(columns);
    known = key;
    const answer = rowGroup(lines, rows);
    parentPort!.postMessage({ answer } satisfies Answered<RowGroup>, [answer.bytes.buffer]);
  } catch (error) {
    parentPort!.postMessage({ error: String(error) } satisfies Answered<RowGroup>);
  }
});
