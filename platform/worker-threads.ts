import { parentPort, Worker } from 'node:worker_threads';
import { EstateError } from './errors.ts';
import { createSemaphore } from './semaphore.ts';

/** A request to a worker thread; buffers in `transfer` are moved instead of copied. */
interface Asked<Question> {
  question: Question;
  transfer?: readonly ArrayBuffer[];
}

/** The message with which a thread answers a request. */
export type Answered<Answer> = { answer: Answer } | { error: string; stack?: string | undefined };

/**
 * Answers the requests to a worker thread; called by its module.
 * @param transferOf the buffers of an answer that are moved instead of copied.
 */
export function answerRequests<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  transferOf: (answer: Answer) => ArrayBuffer[] = () => [],
): void {
  parentPort!.on('message', async (question: Question) => {
    try {
      const given = await answer(question);
      parentPort!.postMessage({ answer: given } satisfies Answered<Answer>, transferOf(given));
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      parentPort!.postMessage({ error: message, stack } satisfies Answered<Answer>);
    }
  });
}

/** One worker thread and its pending requests. */
interface Thread<Question, Answer> {
  /** @throws Error that the thread reported, or the reason for which it was terminated. */
  ask(asked: Asked<Question>): Promise<Answer>;
  /** Suspends the idle timeout until the next request. */
  keepAlive(): void;
  /** Terminates the thread and rejects its pending requests. */
  end(reason: Error): void;
  /** Number of pending requests. */
  readonly pending: number;
  /** Whether it accepts no more requests. */
  readonly ended: boolean;
}

interface ThreadOptions {
  /** The module that the thread runs; it posts one message for each request. */
  module: URL;
  /** How long an idle thread is kept, in milliseconds. */
  idleMs: number;
  /** Heap limit in MB; a thread beyond it is terminated. Default: the limit of the process. */
  memoryMb?: number;
  /** Limit in MB of the heap for new objects: a larger one collects garbage less often. Default: the limit of the process. */
  youngMb?: number;
}

/**
 * Starts a worker thread, which answers requests in their order. It does not keep the process alive while idle, and is
 * terminated after `idleMs` without a request.
 */
export function startThread<Question, Answer>(options: ThreadOptions): Thread<Question, Answer> {
  const { memoryMb, youngMb } = options;
  const worker = new Worker(options.module, {
    resourceLimits: {
      ...(memoryMb && { maxOldGenerationSizeMb: memoryMb }),
      ...(youngMb && { maxYoungGenerationSizeMb: youngMb }),
    },
  });
  const pending: { resolve(answer: Answer): void; reject(error: Error): void }[] = [];
  let idle: NodeJS.Timeout | undefined;
  let ended: Error | undefined;

  const end = (reason: Error) => {
    ended ??= reason;
    clearTimeout(idle);
    for (const { reject } of pending.splice(0)) reject(reason);
    void worker.terminate();
  };

  const startIdleTimeout = () => {
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => end(new Error('idle')), options.idleMs);
    idle.unref();
  };

  worker.on('message', (message: Answered<Answer>) => {
    const request = pending.shift();
    if (pending.length === 0) startIdleTimeout();
    if ('error' in message) request?.reject(errorOf(message));
    else request?.resolve(message.answer);
  });
  worker.on('error', (error) => end(error as Error));
  worker.on('exit', () => end(new Error('a thread has ended')));
  startIdleTimeout();

  return {
    get pending() {
      return pending.length;
    },
    get ended() {
      return ended !== undefined;
    },
    keepAlive: () => clearTimeout(idle),
    end,
    ask: ({ question, transfer = [] }) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        clearTimeout(idle);
        worker.ref();
        pending.push({ resolve, reject });
        worker.postMessage(question, transfer);
      }),
  };
}

/** The error that a thread reported, with the stack of the thread. */
function errorOf({ error, stack }: { error: string; stack?: string | undefined }): Error {
  const failure = new Error(error);
  if (stack) failure.stack = stack;
  return failure;
}

/** Sends a request to a thread. @throws Error that the thread reported. */
export type SendToThread<Question, Answer> = (asked: Asked<Question>) => Promise<Answer>;

/**
 * A pool of worker threads, which are started on demand; each request goes to the thread with the fewest pending ones.
 * @param options with `size`, the largest number of threads.
 */
export function threadPool<Question, Answer>(
  options: ThreadOptions & { size: number },
): SendToThread<Question, Answer> {
  let running: Thread<Question, Answer>[] = [];

  return (asked) => {
    running = running.filter(({ ended }) => !ended);
    let least = running.toSorted((one, other) => one.pending - other.pending)[0];
    if (!least || (least.pending > 0 && running.length < options.size)) {
      least = startThread(options);
      running.push(least);
    }
    return least.ask(asked);
  };
}

/** Limits of {@link boundedThreadPool}; the largest accepted inputs stay far below those of time and memory. */
const BOUNDS = { threads: 2, pending: 10, ms: 20_000, memoryMb: 512, idleMs: 60_000 };

/**
 * A pool of worker threads for untrusted input, with limits on time, memory and pending requests. A request that exceeds time or
 * memory terminates its thread and fails alone.
 * @param options.what plural noun for messages, such as `large models`; `limitMs` for one request.
 * @throws EstateError `unavailable` when too many requests are pending, `query_too_heavy` beyond the limits of time or memory.
 */
export function boundedThreadPool<Question, Answer>({
  module,
  what,
  limitMs = BOUNDS.ms,
}: {
  module: URL;
  what: string;
  limitMs?: number;
}): (question: Question) => Promise<Answer> {
  const idle: Thread<Question, Answer>[] = [];
  const limited = createSemaphore(BOUNDS.threads);
  let pending = 0;

  const answer = async (question: Question): Promise<Answer> => {
    let reusable = idle.pop();
    while (reusable?.ended) reusable = idle.pop();
    const thread =
      reusable ?? startThread<Question, Answer>({ module, idleMs: BOUNDS.idleMs, memoryMb: BOUNDS.memoryMb });
    const timer = setTimeout(
      () => thread.end(tooHeavy(`It takes longer than ${limitMs / 1000} seconds to read`)),
      limitMs,
    );
    try {
      return await thread.ask({ question });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
      throw tooHeavy(`It takes more than ${BOUNDS.memoryMb} MB of memory to read`);
    } finally {
      clearTimeout(timer);
      if (!thread.ended) idle.push(thread);
    }
  };

  return async (question) => {
    if (pending >= BOUNDS.pending) {
      const detail = `Too many ${what} are being read; send it again in some seconds.`;
      throw new EstateError('unavailable', detail, { headers: { 'retry-after': '5' } });
    }
    pending += 1;
    try {
      return await limited(() => answer(question));
    } finally {
      pending -= 1;
    }
  };
}

const tooHeavy = (reason: string): EstateError =>
  new EstateError('query_too_heavy', `${reason}; make it simpler.`);
