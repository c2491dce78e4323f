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

/** One thread and what it has been asked. */
export interface Thread<Question, Answer> {
  /** @throws Error that the thread has met, or the reason for which it was ended. */
  ask(asked: Asked<Question>): Promise<Answer>;
  /** Keeps it from ending for want of work until it is asked next. */
  hold(): void;
  /** Ends it at once, and fails what it was to answer. */
  end(reason: Error): void;
  /** Questions without an answer yet. */
  readonly waiting: number;
  /** Whether it takes no more questions. */
  readonly ended: boolean;
}

export interface ThreadOptions {
  /** The module that answers, one message for each question. */
  module: URL;
  /** How long a thread without work is kept, in milliseconds. */
  idleMs: number;
  /** The heap that ends a thread, in MB; as much as the process may have without it. */
  memoryMb?: number;
}

/**
 * Starts a thread for work that would keep others waiting. It answers questions in their order, lets the process end when
 * nobody waits for it, and ends when it has been without work for a while.
 */
export function startThread<Question, Answer>(options: ThreadOptions): Thread<Question, Answer> {
  const worker = new Worker(options.module, {
    ...(options.memoryMb && { resourceLimits: { maxOldGenerationSizeMb: options.memoryMb } }),
  });
  const waiting: Waiting<Answer>[] = [];
  let idle: NodeJS.Timeout | undefined;
  let ended: Error | undefined;

  const end = (reason: Error) => {
    ended ??= reason;
    clearTimeout(idle);
    for (const { reject } of waiting.splice(0)) reject(reason);
    void worker.terminate();
  };

  const rest = () => {
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => end(new Error('idle')), options.idleMs);
    idle.unref();
  };

  worker.on('message', (message: Answered<Answer>) => {
    const asked = waiting.shift();
    if (waiting.length === 0) rest();
    if ('error' in message) asked?.reject(new Error(message.error));
    else asked?.resolve(message.answer);
  });
  worker.on('error', (error) => end(error as Error));
  worker.on('exit', () => end(new Error('a thread has ended')));
  rest();

  return {
    get waiting() {
      return waiting.length;
    },
    get ended() {
      return ended !== undefined;
    },
    hold: () => clearTimeout(idle),
    end,
    ask: ({ question, transfer = [] }) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        clearTimeout(idle);
        worker.ref();
        waiting.push({ resolve, reject });
        worker.postMessage(question, transfer);
      }),
  };
}

/** Answers a question in the thread that waits least. @throws Error that the thread has met. */
export type Ask<Question, Answer> = (asked: Asked<Question>) => Promise<Answer>;

/**
 * Several threads for one kind of work, started when they are needed: one that has begun works faster than a new one.
 * @param options with how many threads there may be.
 */
export function threads<Question, Answer>(options: ThreadOptions & { size: number }): Ask<Question, Answer> {
  let running: Thread<Question, Answer>[] = [];

  return (asked) => {
    running = running.filter(({ ended }) => !ended);
    let least = running.toSorted((one, other) => one.waiting - other.waiting)[0];
    if (!least || (least.waiting > 0 && running.length < options.size)) {
      least = startThread(options);
      running.push(least);
    }
    return least.ask(asked);
  };
}
