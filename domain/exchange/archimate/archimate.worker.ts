import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { parseModel } from './archimate.parse.ts';
import { type PackedModel, packModel } from './archimate.thread.ts';

/** Parses models outside the thread that runs jobs. */
parentPort!.on('message', (xml: string) => {
  let answer: PackedModel | { error: string };
  try {
    answer = packModel(parseModel(xml));
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  const transfer = 'error' in answer ? [] : answer.pieces.map(({ buffer }) => buffer);
  parentPort!.postMessage({ answer } satisfies Answered<PackedModel | { error: string }>, transfer);
});
