import { EstateError } from '../../../platform/errors.ts';
import { startThread } from '../../../platform/worker-threads.ts';

/** Timeout for a page of records; longer than reading takes under load. */
const IDLE_MS = 600_000;

/** Limit of the heap of the thread, beside which it has arrays of numbers; cards that do not fit are in files. */
const HEAP_MB = 512;
/** Limit of the heap for new objects: arrays that are not needed any more are freed when it is full, so that few wait for that. */
const YOUNG_MB = 6;

/** A thread in which records are compared, so that the process keeps its leases meanwhile. */
export interface MatchingThread<Question, Answer> {
  /** @throws EstateError `query_too_heavy` if the thread has too little memory. */
  send(question: Question): Promise<Answer>;
  close(): void;
}

/**
 * Starts a thread in which records are compared.
 * @param signal terminates it; pending requests are rejected with the reason.
 * @param advice what to do if it needs more than `memoryMb`, the limit of its heap.
 */
export function openMatchingThread<Question, Answer>(
  module: URL,
  signal: AbortSignal,
  advice: string,
  memoryMb = HEAP_MB,
): MatchingThread<Question, Answer> {
  signal.throwIfAborted();
  const options = { module, idleMs: IDLE_MS, memoryMb, youngMb: YOUNG_MB };
  const thread = startThread<Question, Answer>(options);
  const stop = () => thread.end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  return {
    async send(question) {
      try {
        return await thread.ask({ question });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
        const reason = `Comparing the cards takes more than ${memoryMb} MB of memory.`;
        throw new EstateError('query_too_heavy', `${reason} ${advice}`);
      }
    },
    close() {
      signal.removeEventListener('abort', stop);
      thread.end(new Error('the search has ended'));
    },
  };
}
