import { setImmediate } from 'node:timers/promises';
import { type ErrorCode, EstateError } from '../../../platform/errors.ts';
import { startThread } from '../../../platform/worker-threads.ts';
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
  const module = new URL('./rendering.worker.ts', import.meta.url);
  const thread = startThread<Rendering, RenderAnswer>({ module, idleMs: IDLE_MS });
  return {
    get ended() {
      return thread.ended;
    },
    async run(rendering, signal) {
      thread.keepAlive();
      let grace: NodeJS.Timeout | undefined;
      const giveUp = () => {
        grace = setTimeout(() => thread.end(signal.reason), GRACE_MS);
        grace.unref();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        const answer = await thread.ask({ question: await lent(rendering) });
        if ('bytes' in answer) return Buffer.from(answer.bytes.buffer);
        throw 'refused' in answer ? refusal(answer.refused) : failure(answer.failed);
      } finally {
        clearTimeout(grace);
        signal.removeEventListener('abort', giveUp);
      }
    },
  };
}

/**
 * The answer in memory that both threads see, copied in steps between which requests are answered: others may be given
 * it meanwhile, so that it cannot be handed over, and a message is copied in one go.
 */
async function lent(rendering: Rendering): Promise<Rendering> {
  if (!('body' in rendering)) return rendering;
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
