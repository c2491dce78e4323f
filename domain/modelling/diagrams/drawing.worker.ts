import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { type DrawingRequest, type DrawingResult, processDrawing } from './drawing.work.ts';

parentPort!.on('message', (request: DrawingRequest) => {
  let answered: Answered<DrawingResult>;
  try {
    answered = { answer: processDrawing(request) };
  } catch (error) {
    answered = { error: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answered);
});
