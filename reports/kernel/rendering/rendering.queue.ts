import { EstateError } from '../../../platform/errors.ts';
import { type RenderThread, startRenderThread } from './rendering.thread.ts';
import type { Rendering } from './rendering.types.ts';

/** Threads at most; the second is started when the first has work, so that one long rendering does not hold up all others. */
const THREADS = 2;
/** What may wait for a thread: each holds its answer. */
const WAITING = { renderings: 100, ofOneUser: 50, bytes: 256 * 1024 * 1024 };
/** How long a rendering may take, in milliseconds, waiting for others included. */
const LIMIT_MS = 60_000;
/** How long the making of one document may take, in milliseconds, without the waiting: its text may be hostile. */
const DOCUMENT_MS = 10_000;

interface Waiting {
  user: string;
  bytes: number;
  begin(thread: RenderThread): void;
}

const idle: RenderThread[] = [];
/** What waits, by user: the user whose turn is next first. */
const queue = new Map<string, Set<Waiting>>();
let busy = 0;
let waiting = 0;
let waitingBytes = 0;

export interface RenderOptions {
  /** Gives the rendering up. */
  signal?: AbortSignal;
  /** In milliseconds; a minute without it. */
  limitMs?: number;
  /** For whom it is made: users take turns. What is made for nobody in particular waits as that of one user. */
  user?: string | null | undefined;
}

/** Of renderings without a user. */
const NOBODY = '';

/**
 * Makes a file or a picture in a thread that is started on first use, so that a process which makes none never loads
 * what that takes. Answers may be tens of megabytes: reading them would keep every other request waiting.
 * @throws EstateError `unavailable` when too many wait or it takes too long, waiting included; `too_many_requests` when
 * too many of the user wait; `query_too_heavy` for a document that takes too long itself; 422 for a table that there is not; the signal's reason.
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
      passOn(thread);
      throw signal.reason;
    }
    if ('paper' in rendering) documentTimer = setTimeout(() => limit.abort(tooLong()), DOCUMENT_MS);
    return await untilAborted(
      thread.run(rendering, signal).finally(() => passOn(thread)),
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
    `To make the document takes longer than ${DOCUMENT_MS / 1000} seconds; shorten or simplify its texts.`,
  );

const tooBusy = (detail: string) =>
  new EstateError('unavailable', detail, { headers: { 'retry-after': '5' } });

/** A thread for one rendering, which `passOn` gives back. */
async function nextThread(user: string, bytes: number, signal: AbortSignal): Promise<RenderThread> {
  if (busy < THREADS) {
    busy += 1;
    return freeThread();
  }
  const own = queue.get(user) ?? new Set();
  if (user !== NOBODY && own.size >= WAITING.ofOneUser) {
    throw new EstateError('too_many_requests', 'Too many of your files and pictures wait to be made.', {
      headers: { 'retry-after': '5' },
    });
  }
  if (waiting >= WAITING.renderings || waitingBytes + bytes > WAITING.bytes) {
    throw tooBusy('Too many files and pictures are being made; ask again in some seconds.');
  }
  const turn = Promise.withResolvers<RenderThread>();
  const entry = { user, bytes, begin: turn.resolve };
  queue.set(user, own.add(entry));
  waiting += 1;
  waitingBytes += bytes;
  const giveUp = () => {
    if (leave(entry)) turn.reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await turn.promise;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function leave(entry: Waiting): boolean {
  const own = queue.get(entry.user);
  if (!own?.delete(entry)) return false;
  if (own.size === 0) queue.delete(entry.user);
  waiting -= 1;
  waitingBytes -= entry.bytes;
  return true;
}

/** Gives the thread, or another in its place when it has ended, to the user whose turn it is. */
function passOn(thread: RenderThread): void {
  if (!thread.ended) idle.push(thread);
  const [turn] = queue;
  if (!turn) {
    busy -= 1;
    return;
  }
  const [user, own] = turn;
  const [next] = own;
  leave(next!);
  // the user's next one comes after one of each other user
  if (queue.delete(user)) queue.set(user, own);
  next!.begin(freeThread());
}

function freeThread(): RenderThread {
  for (let thread = idle.pop(); thread; thread = idle.pop()) if (!thread.ended) return thread;
  return startRenderThread();
}

/** The work, or the reason of the signal as soon as it comes. */
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
