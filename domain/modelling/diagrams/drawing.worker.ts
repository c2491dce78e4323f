import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { type DrawingAnswer, type DrawingQuestion, workOn } from './drawing.work.ts';

/** Reads drawings beside the thread that answers requests. */
parentPort!.on('message', (question: DrawingQuestion) => {
  let answered: Answered<DrawingAnswer>;
  try {
    answered = { answer: workOn(question) };
  } catch (error) {
    answered = { error: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answered);
});
