import { EstateError } from './errors.ts';
import { startThread, type Thread } from './threads.ts';

/** How long a thread without work is kept, in milliseconds. */
const IDLE_MS = 60_000;
/** How long an answer may take, in milliseconds, those before it included: much longer than the largest of all takes. */
const LIMIT_MS = 30_000;
/** Questions that may wait; each is kept meanwhile. */
const WAITING = 10;

/**
 * Has a thread of its own answer questions, one after the other, so that no request waits for the work.
 * @param options.what of which too many may wait, such as `large models`.
 * @throws EstateError `unavailable` where too many wait, or none comes to an end.
 */
export function aside<Question, Answer>({
  module,
  what,
}: {
  module: URL;
  what: string;
}): (question: Question) => Promise<Answer> {
  let thread: Thread<Question, Answer> | undefined;
  const busy = (): EstateError =>
    new EstateError('unavailable', `Too many ${what} are being read; send it again in some seconds.`, {
      headers: { 'retry-after': '5' },
    });

  return async (question) => {
    if (!thread || thread.ended) thread = startThread({ module, idleMs: IDLE_MS });
    const asked = thread;
    if (asked.waiting >= WAITING) throw busy();
    const timer = setTimeout(() => asked.end(busy()), LIMIT_MS);
    try {
      return await asked.ask({ question });
    } finally {
      clearTimeout(timer);
    }
  };
}
