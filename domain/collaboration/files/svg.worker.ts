import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { checkSvg } from './svg.check.ts';

/** Checks SVG images outside the thread that answers requests. Answers why a text is none; null when it is one. */
parentPort!.on('message', (text: string) => {
  let fault: string | null = null;
  try {
    checkSvg(text);
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  parentPort!.postMessage({ answer: fault } satisfies Answered<string | null>);
});
