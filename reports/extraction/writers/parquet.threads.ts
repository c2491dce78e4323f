import os from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Column } from '../extraction.types.ts';
import type { RowGroup } from './parquet.group.ts';

/** Lines of JSON that become a row group. */
export interface GroupLines {
  lines: Uint8Array<ArrayBuffer>[];
  rows: number;
}

/** Threads of one file: the database works as much as they do. */
const THREADS = Math.min(4, os.availableParallelism());

/** Makes row groups beside the thread that answers requests, several at once. */
export interface GroupThreads {
  /** How many row groups are worked on at once. */
  size: number;
  /** Takes lines, which are the caller's no more. @throws Error when they can't be encoded. */
  encode(group: GroupLines): Promise<RowGroup>;
  end(): Promise<void>;
}

interface Thread {
  worker: Worker;
  waiting: { resolve(group: RowGroup): void; reject(error: Error): void }[];
}

function startThread(columns: Column[]): Thread {
  const worker = new Worker(new URL('./parquet.worker.ts', import.meta.url), { workerData: columns });
  const thread: Thread = { worker, waiting: [] };
  const fail = (error: Error) => {
    for (const { reject } of thread.waiting.splice(0)) reject(error);
  };
  worker.on('message', (group: RowGroup) => thread.waiting.shift()?.resolve(group));
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the thread that writes Parquet has ended')));
  return thread;
}

/** Threads for a file of these columns; they start with the first groups. */
export function groupThreads(columns: Column[]): GroupThreads {
  const threads: Thread[] = [];
  let next = 0;
  return {
    size: THREADS,
    encode({ lines, rows }) {
      threads[next] ??= startThread(columns);
      const { worker, waiting } = threads[next]!;
      next = (next + 1) % THREADS;
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        worker.postMessage({ lines, rows }, [...new Set(lines.map(({ buffer }) => buffer))]);
      });
    },
    async end() {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}
