import os from 'node:os';
import { threadPool } from '../../../platform/worker-threads.ts';
import type { Column } from './formats.types.ts';
import type { RowGroup } from './parquet.group.ts';

/** Lines of JSON that become a row group. */
export interface GroupLines {
  lines: Uint8Array<ArrayBuffer>[];
  rows: number;
}

/** Threads that make row groups, each with some 40 MB of its own: half of what there is, since the database works more. */
export const THREADS = Math.min(4, Math.ceil(os.availableParallelism() / 2));

const ask = threadPool<GroupLines & { columns: Column[] }, RowGroup>({
  module: new URL('./parquet.worker.ts', import.meta.url),
  size: THREADS,
  idleMs: 60_000,
});

/**
 * Makes a row group beside the thread that answers requests.
 * @param group whose lines are the caller's no more. @throws Error when they can't be encoded.
 */
export async function encodeGroup(columns: Column[], { lines, rows }: GroupLines): Promise<RowGroup> {
  return await ask({
    question: { columns, lines, rows },
    transfer: [...new Set(lines.map(({ buffer }) => buffer))],
  });
}
