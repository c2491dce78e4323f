import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { readContent } from './bpmn.model.ts';

/** Reads models beside the thread that answers requests. */
parentPort!.on('message', async (text: string) => {
  let answered: Answered<Awaited<ReturnType<typeof readContent>>>;
  try {
    answered = { answer: await readContent(text) };
  } catch (error) {
    answered = { error: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answered);
});
