import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, EstateError } from '../../platform/errors.ts';
import type { Refusal, RenderAnswer, Rendering } from './rendering.types.ts';

/** How long a thread without work is kept, in milliseconds. */
const IDLE_MS = 60_000;
const STEP_BYTES = 4 * 1024 * 1024;
/** A rendering that nobody waits for any more may take so long before its thread is ended: a new one costs more. */
const GRACE_MS = 2_000;

/** A thread that makes one rendering at a time. */
export interface RenderThread {
  /**
   * @param signal gives the rendering up: by ending the thread, when it is not done soon.
   * @throws EstateError a refusal of the rendering, Error when it fails or the thread ends, the signal's reason.
   */
  run(rendering: Rendering, signal: AbortSignal): Promise<Buffer>;
  /** Whether it takes no more renderings. */
  readonly ended: boolean;
}

/** Starts a thread that ends when it has had nothing to do for a minute, and keeps no process from ending. */
export function startRenderThread(): RenderThread {
  const worker = new Worker(new URL('./rendering.worker.ts', import.meta.url));
  worker.unref();
  let waiting: PromiseWithResolvers<Buffer> | undefined;
  let last = 0;
  let ended = false;
  let idle: NodeJS.Timeout | undefined;

  const end = (reason: Error) => {
    ended = true;
    clearTimeout(idle);
    waiting?.reject(reason);
    waiting = undefined;
    void worker.terminate();
  };

  worker.on('message', (answer: RenderAnswer) => {
    if (answer.id !== last || !waiting) return;
    if ('bytes' in answer) waiting.resolve(Buffer.from(answer.bytes.buffer));
    else waiting.reject('refused' in answer ? refusal(answer.refused) : failure(answer.failed));
    waiting = undefined;
  });
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread that makes files and pictures has ended')));

  return {
    get ended() {
      return ended;
    },
    async run(rendering, signal) {
      clearTimeout(idle);
      last += 1;
      waiting = Promise.withResolvers<Buffer>();
      const { promise } = waiting;
      let grace: NodeJS.Timeout | undefined;
      const giveUp = () => {
        grace = setTimeout(() => end(signal.reason), GRACE_MS);
        grace.unref();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      worker.ref();
      try {
        worker.postMessage({ id: last, rendering: await lent(rendering) });
        return await promise;
      } finally {
        clearTimeout(grace);
        signal.removeEventListener('abort', giveUp);
        worker.unref();
        if (!ended) {
          idle = setTimeout(() => end(new Error('idle')), IDLE_MS);
          idle.unref();
        }
      }
    },
  };
}

/**
 * The answer in memory that both threads see, copied in steps between which requests are answered: others may be given
 * it meanwhile, so that it cannot be handed over, and a message is copied in one go.
 */
async function lent(rendering: Rendering): Promise<Rendering> {
  if (rendering.make === 'chart') return rendering;
  const { byteLength } = rendering.body;
  const body = new Uint8Array(new SharedArrayBuffer(byteLength));
  for (let at = 0; at < byteLength; at += STEP_BYTES) {
    if (at > 0) await setImmediate();
    body.set(rendering.body.subarray(at, at + STEP_BYTES), at);
  }
  return { ...rendering, body };
}

const refusal = ({ code, detail, errors }: Refusal) =>
  new EstateError(code as ErrorCode, detail, errors ? { errors } : {});

const failure = (message: string) => new Error(`a file or picture can't be made: ${message}`);
