import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import type { Column } from './formats.types.ts';
import { type RowGroup, rowGroups } from './parquet.group.ts';
import type { GroupLines } from './parquet.threads.ts';

parentPort!.on('message', ({ columns, lines, rows }: GroupLines & { columns: Column[] }) => {
  try {
    const answer = rowGroups(columns)(lines, rows);
    parentPort!.postMessage({ answer } satisfies Answered<RowGroup>, [answer.bytes.buffer]);
  } catch (error) {
    parentPort!.postMessage({ error: String(error) } satisfies Answered<RowGroup>);
  }
});
