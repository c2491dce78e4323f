import { Worker } from 'node:worker_threads';

/** What is asked of a thread, and what it is given to keep instead of a copy. */
export interface Asked<Question> {
  question: Question;
  transfer?: readonly ArrayBuffer[];
}

/** How a thread answers a question. */
export type Answered<Answer> = { answer: Answer } | { error: string };

interface Waiting<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

interface Thread<Answer> {
  worker: Worker;
  /** In the order in which they asked, which is that of the answers. */
  waiting: Waiting<Answer>[];
  idle?: NodeJS.Timeout;
}

export interface ThreadOptions {
  /** The module that answers, one message for each question. */
  module: URL;
  /** So many threads at most. */
  size: number;
  /** How long a thread without work is kept, in milliseconds. */
  idleMs: number;
}

/** Answers a question in the thread that waits least. @throws Error that the thread has met. */
export type Ask<Question, Answer> = (asked: Asked<Question>) => Promise<Answer>;

/**
 * Threads for work that would keep others waiting. They start when they are needed, let the process end when nobody
 * waits for them, and end when they have been without work for a while: one that has begun works faster than a new one.
 */
export function threads<Question, Answer>(options: ThreadOptions): Ask<Question, Answer> {
  const running: Thread<Answer>[] = [];

  const end = (thread: Thread<Answer>, reason: Error) => {
    const at = running.indexOf(thread);
    if (at >= 0) running.splice(at, 1);
    clearTimeout(thread.idle);
    for (const { reject } of thread.waiting.splice(0)) reject(reason);
    void thread.worker.terminate();
  };

  const rest = (thread: Thread<Answer>) => {
    thread.worker.unref();
    clearTimeout(thread.idle);
    thread.idle = setTimeout(() => end(thread, new Error('idle')), options.idleMs);
    thread.idle.unref();
  };

  const start = (): Thread<Answer> => {
    const worker = new Worker(options.module);
    const thread: Thread<Answer> = { worker, waiting: [] };
    worker.on('message', (message: Answered<Answer>) => {
      const asked = thread.waiting.shift();
      if (thread.waiting.length === 0) rest(thread);
      if ('error' in message) asked?.reject(new Error(message.error));
      else asked?.resolve(message.answer);
    });
    worker.on('error', (error) => end(thread, error as Error));
    worker.on('exit', () => end(thread, new Error('a thread has ended')));
    running.push(thread);
    return thread;
  };

  const least = (): Thread<Answer> => {
    const idlest = running.reduce<Thread<Answer> | undefined>(
      (best, thread) => (best && best.waiting.length <= thread.waiting.length ? best : thread),
      undefined,
    );
    if (idlest && (idlest.waiting.length === 0 || running.length >= options.size)) return idlest;
    return start();
  };

  return ({ question, transfer = [] }) =>
    new Promise((resolve, reject) => {
      const thread = least();
      clearTimeout(thread.idle);
      thread.worker.ref();
      thread.waiting.push({ resolve, reject });
      thread.worker.postMessage(question, transfer);
    });
}
