import { EstateError } from './errors.ts';
import { startThread, type Thread } from './threads.ts';
import { createTurns } from './turns.ts';

/** How long a thread without work is kept, in milliseconds. */
const IDLE_MS = 60_000;
/** How long one question may take, in milliseconds: much longer than the largest of all takes. */
const LIMIT_MS = 20_000;
/** The heap that one question may take, in MB: several times what the largest of all takes. */
const MEMORY_MB = 512;
/** Questions that may wait or be worked on; each is kept meanwhile. */
const WAITING = 10;
/** Questions that are worked on at once. */
const THREADS = 2;

/**
 * Has threads of their own answer questions in the order in which they came, so that no request waits for the work. A
 * question that takes too long, or too much memory, ends its thread, and no other question.
 * @param options.what of which too many may wait, such as `large models`; `limitMs` for one question.
 * @throws EstateError `unavailable` where too many wait, `query_too_heavy` where one takes too long or too much memory.
 */
export function aside<Question, Answer>({
  module,
  what,
  limitMs = LIMIT_MS,
}: {
  module: URL;
  what: string;
  limitMs?: number;
}): (question: Question) => Promise<Answer> {
  const idle: Thread<Question, Answer>[] = [];
  const turns = createTurns(THREADS);
  let waiting = 0;

  const answer = async (question: Question): Promise<Answer> => {
    let thread = idle.pop();
    while (thread?.ended) thread = idle.pop();
    const asked = thread ?? startThread<Question, Answer>({ module, idleMs: IDLE_MS, memoryMb: MEMORY_MB });
    const timer = setTimeout(() => asked.end(tooLong(limitMs)), limitMs);
    try {
      return await asked.ask({ question });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error;
    } finally {
      clearTimeout(timer);
      if (!asked.ended) idle.push(asked);
    }
  };

  return async (question) => {
    if (waiting >= WAITING) {
      throw new EstateError(
        'unavailable',
        `Too many ${what} are being read; send it again in some seconds.`,
        {
          headers: { 'retry-after': '5' },
        },
      );
    }
    waiting += 1;
    try {
      return await turns(() => answer(question));
    } finally {
      waiting -= 1;
    }
  };
}

const tooLong = (limitMs: number): EstateError =>
  new EstateError(
    'query_too_heavy',
    `To read it takes longer than ${limitMs / 1000} seconds; make it simpler.`,
  );

const tooLarge = (): EstateError =>
  new EstateError(
    'query_too_heavy',
    `To read it takes more than ${MEMORY_MB} MB of memory; make it simpler.`,
  );
