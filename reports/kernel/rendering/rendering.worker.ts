import { parentPort } from 'node:worker_threads';
import { EstateError } from '../../../platform/errors.ts';
import type { Answered } from '../../../platform/worker-threads.ts';
import { makeRendering } from './rendering.make.ts';
import type { RenderAnswer, Rendering } from './rendering.types.ts';

/** Reads answers and makes files and pictures of them beside the thread that answers requests. */
parentPort!.on('message', async (rendering: Rendering) => {
  try {
    const made = await makeRendering(rendering);
    // a short one lies in memory that others share, which cannot be handed over
    const bytes = made.byteLength === made.buffer.byteLength ? made : Uint8Array.from(made);
    answer({ bytes: bytes as Uint8Array<ArrayBuffer> }, [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    if (error instanceof EstateError) {
      answer({ refused: { code: error.code, detail: error.message, errors: error.errors } });
    } else {
      answer({ failed: error instanceof Error ? error.message : String(error) });
    }
  }
});

function answer(given: RenderAnswer, handedOver: ArrayBuffer[] = []): void {
  parentPort!.postMessage({ answer: given } satisfies Answered<RenderAnswer>, handedOver);
}
