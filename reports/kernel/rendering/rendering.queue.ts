import { setImmediate } from 'node:timers/promises';
import { type ErrorCode, EstateError } from '../../../platform/errors.ts';
import { startThread } from '../../../platform/worker-threads.ts';
import type { Refusal, RenderAnswer, Rendering } from './rendering.types.ts';

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
  const thread = startThread<Rendering, RenderAnswer>({ module, idleMs: IDLE_MS });
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
        throw 'refused' in answer ? refusal(answer.refused) : failure(answer.failed);
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

const failure = (message: string) => new Error(`rendering failed: ${message}`);

/** Maximum number of threads; the second is started while the first is busy, so that a long rendering does not block others. */
const THREADS = 2;
/** Limits of queued renderings, each of which keeps its data in memory. */
const QUEUED = { renderings: 100, ofOneUser: 50, bytes: 256 * 1024 * 1024 };
/** Maximum time of a rendering including its time in the queue, in milliseconds. */
const LIMIT_MS = 60_000;
/** Maximum time of one document in its thread, in milliseconds, because its texts can be hostile. */
const DOCUMENT_MS = 10_000;

interface Queued {
  user: string;
  bytes: number;
  begin(thread: RenderThread): void;
}

const idle: RenderThread[] = [];
const busy = new Set<RenderThread>();
/** Queued renderings by user, in the order in which users are served. */
const queue = new Map<string, Set<Queued>>();

export interface RenderOptions {
  /** Cancels the rendering. */
  signal?: AbortSignal;
  /** In milliseconds; default: one minute. */
  limitMs?: number;
  /** The requesting user: queued renderings are served round robin by user. Those without a user count as one user. */
  user?: string | null | undefined;
}

/** The user of renderings without one. */
const NOBODY = '';

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
  try {
    signal.throwIfAborted();
    const bytes = 'body' in rendering ? rendering.body.byteLength : 0;
    const thread = await acquireThread(options.user ?? NOBODY, bytes, signal);
    if (signal.aborted) {
      releaseThread(thread);
      throw signal.reason;
    }
    if ('paper' in rendering) documentTimer = setTimeout(() => limit.abort(tooLong()), DOCUMENT_MS);
    return await untilAborted(
      thread.run(rendering, signal).finally(() => releaseThread(thread)),
      signal,
    );
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

/** Acquires a thread for one rendering; release it with `releaseThread`. */
async function acquireThread(user: string, bytes: number, signal: AbortSignal): Promise<RenderThread> {
  if (busy.size < THREADS) return takeThread();
  const own = queue.get(user) ?? new Set();
  if (user !== NOBODY && own.size >= QUEUED.ofOneUser) {
    throw new EstateError('too_many_requests', 'Too many of your files and charts are queued.', {
      headers: { 'retry-after': '5' },
    });
  }
  const queued = [...queue.values()].flatMap((entries) => [...entries]);
  const queuedBytes = queued.reduce((sum, entry) => sum + entry.bytes, 0);
  if (queued.length >= QUEUED.renderings || queuedBytes + bytes > QUEUED.bytes) {
    throw tooBusy('Too many files and charts are being rendered; try again in some seconds.');
  }
  const assigned = Promise.withResolvers<RenderThread>();
  const entry = { user, bytes, begin: assigned.resolve };
  queue.set(user, own.add(entry));
  const cancel = () => {
    if (dequeue(entry)) assigned.reject(signal.reason);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await assigned.promise;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** @returns whether the entry was still queued. */
function dequeue(entry: Queued): boolean {
  const own = queue.get(entry.user);
  if (!own?.delete(entry)) return false;
  if (own.size === 0) queue.delete(entry.user);
  return true;
}

/** Passes the thread, or a new one if it has ended, to the next user. */
function releaseThread(thread: RenderThread): void {
  busy.delete(thread);
  if (!thread.ended) idle.push(thread);
  const [first] = queue;
  if (!first) return;
  const [user, own] = first;
  const [next] = own;
  dequeue(next!);
  // round robin: this user's next rendering comes after one of each other user
  if (queue.delete(user)) queue.set(user, own);
  next!.begin(takeThread());
}

/** An idle thread, or a new one. */
function takeThread(): RenderThread {
  let thread = idle.pop();
  while (thread?.ended) thread = idle.pop();
  thread ??= startRenderThread();
  busy.add(thread);
  return thread;
}

/** Rejects with the signal's reason as soon as it is aborted. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stop = Promise.withResolvers<never>();
  const abort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
