import { Worker } from 'node:worker_threads';
import type { Chart, ChartWorkspace } from './charts.types.ts';

/** How long a thread without work is kept, in milliseconds. */
const IDLE = 60_000;
/** How long a picture may take, in milliseconds, waiting for others included. */
const LIMIT = 60_000;

interface Waiting {
  resolve(svg: string): void;
  reject(reason: Error): void;
}

interface Thread {
  worker: Worker;
  waiting: Map<number, Waiting>;
  idle?: NodeJS.Timeout;
}

let thread: Thread | undefined;
let last = 0;

/**
 * Draws a chart as SVG text, in a thread that is started on first use, so that a process which draws nothing
 * never loads the charting library, and that ends when nothing has been drawn for a minute.
 * @throws Error when the picture can't be drawn, or not in time.
 */
export async function renderChart(chart: Chart, workspace: ChartWorkspace): Promise<string> {
  thread ??= startThread();
  const current = thread;
  clearTimeout(current.idle);
  last += 1;
  const id = last;
  const limit = setTimeout(() => fail(current, new Error('drawing a chart took too long')), LIMIT);
  limit.unref();
  try {
    return await new Promise<string>((resolve, reject) => {
      current.waiting.set(id, { resolve, reject });
      current.worker.ref();
      current.worker.postMessage({ id, chart, workspace });
    });
  } finally {
    clearTimeout(limit);
    rest(current);
  }
}

function startThread(): Thread {
  const worker = new Worker(new URL('./charts.worker.ts', import.meta.url));
  const started: Thread = { worker, waiting: new Map() };
  worker.unref();
  worker.on('message', ({ id, svg, error }: { id: number; svg?: string; error?: string }) => {
    const asked = started.waiting.get(id);
    started.waiting.delete(id);
    if (svg === undefined) asked?.reject(new Error(`a chart can't be drawn: ${error}`));
    else asked?.resolve(svg);
  });
  worker.on('error', (error) => fail(started, error));
  worker.on('exit', () => fail(started, new Error('the thread that draws charts has ended')));
  return started;
}

/** Ends a thread and refuses what waits for it; the next picture gets another. */
function fail(failed: Thread, reason: Error): void {
  if (thread === failed) thread = undefined;
  clearTimeout(failed.idle);
  for (const { reject } of failed.waiting.values()) reject(reason);
  failed.waiting.clear();
  void failed.worker.terminate();
}

/** Lets the process end when nothing is being drawn, and the thread when that lasts. */
function rest(current: Thread): void {
  if (current.waiting.size > 0) return;
  current.worker.unref();
  clearTimeout(current.idle);
  current.idle = setTimeout(() => fail(current, new Error('idle')), IDLE);
  current.idle.unref();
}
