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
interface RenderThread {
  /**
   * @param signal gives the rendering up: by ending the thread, when it is not done soon.
   * @throws EstateError a refusal of the rendering, Error when it fails or the thread ends, the signal's reason.
   */
  run(rendering: Rendering, signal: AbortSignal): Promise<Buffer>;
  /** Whether it takes no more renderings. */
  readonly ended: boolean;
}

/** Starts a thread that ends when it has had nothing to do for a minute, and keeps no process from ending. */
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

/** Threads at most; the second is started while the first is busy, so that one long rendering does not block all others. */
const THREADS = 2;
/** Limits on queued renderings; each holds its answer. */
const QUEUED = { renderings: 100, ofOneUser: 50, bytes: 256 * 1024 * 1024 };
/** How long a rendering may take, time in the queue included, in milliseconds. */
const LIMIT_MS = 60_000;
/** How long one document may take in its thread, in milliseconds: its text may be hostile. */
const DOCUMENT_MS = 10_000;

interface Queued {
  user: string;
  bytes: number;
  begin(thread: RenderThread): void;
}

const idle: RenderThread[] = [];
const busy = new Set<RenderThread>();
/** Queued renderings by user; the user who is served next comes first. */
const queue = new Map<string, Set<Queued>>();

export interface RenderOptions {
  /** Cancels the rendering. */
  signal?: AbortSignal;
  /** In milliseconds; default: one minute. */
  limitMs?: number;
  /** Who asked for it: queued renderings are served user by user. Those without a user count as one user's. */
  user?: string | null | undefined;
}

/** The user of renderings without one. */
const NOBODY = '';

/**
 * Makes a file or a picture in a worker thread, which is started on first use and then loads the libraries it needs. Answers
 * may have tens of megabytes: parsing them would block every other request.
 * @throws EstateError `unavailable` when the queue is full or the rendering takes too long; `too_many_requests` when too many
 * of the user's are queued; `query_too_heavy` for a document that takes too long itself; 422 for an unknown table; the signal's reason.
 */
export async function render(rendering: Rendering, options: RenderOptions = {}): Promise<Buffer> {
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(tooBusy('The file or picture could not be made in time.')),
    options.limitMs ?? LIMIT_MS,
  );
  timer.unref();
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal;
  let documentTimer: NodeJS.Timeout | undefined;
  try {
    signal.throwIfAborted();
    const bytes = 'body' in rendering ? rendering.body.byteLength : 0;
    const thread = await nextThread(options.user ?? NOBODY, bytes, signal);
    if (signal.aborted) {
      returnThread(thread);
      throw signal.reason;
    }
    if ('paper' in rendering) documentTimer = setTimeout(() => limit.abort(tooLong()), DOCUMENT_MS);
    return await untilAborted(
      thread.run(rendering, signal).finally(() => returnThread(thread)),
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
    `The document takes longer than ${DOCUMENT_MS / 1000} seconds to make; shorten or simplify its texts.`,
  );

const tooBusy = (detail: string) =>
  new EstateError('unavailable', detail, { headers: { 'retry-after': '5' } });

/** A thread for one rendering, to be given back with `returnThread`. */
async function nextThread(user: string, bytes: number, signal: AbortSignal): Promise<RenderThread> {
  if (busy.size < THREADS) return takeThread();
  const own = queue.get(user) ?? new Set();
  if (user !== NOBODY && own.size >= QUEUED.ofOneUser) {
    throw new EstateError('too_many_requests', 'Too many of your files and pictures wait to be made.', {
      headers: { 'retry-after': '5' },
    });
  }
  const queued = [...queue.values()].flatMap((entries) => [...entries]);
  const queuedBytes = queued.reduce((sum, entry) => sum + entry.bytes, 0);
  if (queued.length >= QUEUED.renderings || queuedBytes + bytes > QUEUED.bytes) {
    throw tooBusy('Too many files and pictures are being made; ask again in some seconds.');
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

/** Gives the thread, or a new one when it has ended, to the user who is served next. */
function returnThread(thread: RenderThread): void {
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
