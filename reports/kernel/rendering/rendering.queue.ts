import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type ErrorCode, EstateError } from '../../../platform/errors.ts';
import { createUserSemaphore } from '../../../platform/semaphore.ts';
import { untilAborted } from '../../../platform/within.ts';
import { startThread } from '../../../platform/worker-threads.ts';
import type { Refusal, Rendering, RenderResult } from './rendering.types.ts';

/** Time after which an idle thread ends, in milliseconds. */
const IDLE_MS = 60_000;
const STEP_BYTES = 4 * 1024 * 1024;
/** Time for a cancelled rendering to finish before its thread is terminated, in milliseconds: a new thread is expensive. */
const GRACE_MS = 2_000;

/** A worker thread that executes one rendering at a time. */
interface RenderThread {
  /**
   * @param signal cancels the rendering; the thread is terminated if it does not finish soon.
   * @throws EstateError of the rendering, Error if it fails or the thread ends, the signal's reason.
   */
  run(rendering: Rendering, signal: AbortSignal): Promise<Buffer>;
  /** Whether the thread has ended. */
  readonly ended: boolean;
}

/** Starts a thread that ends after a minute without work and does not keep the process alive. */
function startRenderThread(): RenderThread {
  const module = new URL('./rendering.worker.ts', import.meta.url);
  const thread = startThread<Rendering, RenderResult>({ module, idleMs: IDLE_MS });
  return {
    get ended() {
      return thread.ended;
    },
    async run(rendering, signal) {
      thread.keepAlive();
      let grace: NodeJS.Timeout | undefined;
      const cancel = () => {
        grace = setTimeout(() => thread.end(signal.reason), GRACE_MS);
        grace.unref();
      };
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const answer = await thread.ask({ question: await toSharedMemory(rendering) });
        if ('bytes' in answer) return Buffer.from(answer.bytes.buffer);
        throw refusal(answer.refused);
      } finally {
        clearTimeout(grace);
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

/**
 * Copies the result into shared memory in steps, between which requests are handled. It cannot be transferred, since other
 * requests use it, and a message would be copied in one blocking step.
 */
async function toSharedMemory(rendering: Rendering): Promise<Rendering> {
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

/** Maximum number of threads; the second is started while the first is busy, so that a long rendering does not block others. */
const THREADS = 2;
/** Limits of renderings that run or wait, each of which keeps its data in memory. */
const QUEUED = { renderings: 100, ofOneUser: 50, bytes: 256 * 1024 * 1024 };
/** Maximum time of a rendering including its time in the queue, in milliseconds. */
const LIMIT_MS = 60_000;
/** Maximum time of one document in its thread, in milliseconds, because its texts can be hostile. */
const DOCUMENT_MS = 10_000;

const limited = createUserSemaphore({ running: THREADS, ofOneUser: THREADS, queued: QUEUED.ofOneUser });
const idle: RenderThread[] = [];
/** Renderings that run or wait, and the bytes of their data. */
const pending = { renderings: 0, bytes: 0 };

export interface RenderOptions {
  /** Cancels the rendering. */
  signal?: AbortSignal;
  /** In milliseconds; default: one minute. */
  limitMs?: number;
  /** The requesting user: the renderings of one user do not delay those of others. */
  user?: string | null | undefined;
}

/**
 * Renders a file or a chart in a worker thread, which is started on first use. Results can have tens of megabytes: parsing
 * them in the main thread would block every other request.
 * @throws EstateError `unavailable` if the queue is full or the rendering takes too long; `too_many_requests` if the user has
 * too many queued renderings; `query_too_heavy` for a document that takes too long; 422 for an unknown table; the signal's reason.
 */
export async function render(rendering: Rendering, options: RenderOptions = {}): Promise<Buffer> {
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(tooBusy('The file or chart could not be rendered in time.')),
    options.limitMs ?? LIMIT_MS,
  );
  timer.unref();
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal;
  let documentTimer: NodeJS.Timeout | undefined;
  const inThread = async () => {
    signal.throwIfAborted();
    const thread = takeThread();
    if ('paper' in rendering) documentTimer = setTimeout(() => limit.abort(tooLong()), DOCUMENT_MS);
    try {
      return await thread.run(rendering, signal);
    } finally {
      if (!thread.ended) idle.push(thread);
    }
  };
  try {
    signal.throwIfAborted();
    const release = reserve('body' in rendering ? rendering.body.byteLength : 0);
    return await untilAborted(limited(options.user ?? randomUUID(), inThread).finally(release), signal);
  } finally {
    clearTimeout(timer);
    clearTimeout(documentTimer);
  }
}

const tooLong = () =>
  new EstateError(
    'query_too_heavy',
    `The document takes longer than ${DOCUMENT_MS / 1000} seconds to render; shorten or simplify its texts.`,
  );

const tooBusy = (detail: string) =>
  new EstateError('unavailable', detail, { headers: { 'retry-after': '5' } });

/** Counts a rendering as pending. @returns the function that ends this. @throws EstateError `unavailable`. */
function reserve(bytes: number): () => void {
  const isCrowded = pending.renderings >= THREADS && pending.bytes + bytes > QUEUED.bytes;
  if (pending.renderings >= QUEUED.renderings || isCrowded) {
    throw tooBusy('Too many files and charts are being rendered; try again in some seconds.');
  }
  pending.renderings += 1;
  pending.bytes += bytes;
  return () => {
    pending.renderings -= 1;
    pending.bytes -= bytes;
  };
}

/** An idle thread, or a new one. */
function takeThread(): RenderThread {
  let thread = idle.pop();
  while (thread?.ended) thread = idle.pop();
  return thread ?? startRenderThread();
}
