import { setImmediate as turn } from 'node:timers/promises';

/**
 * Maximum concurrent reads. With one, half of the callers wait for a complete read before theirs starts, while the
 * process is idle; with more, each read serves fewer callers and the database has more work.
 */
const CONCURRENT_READS = 2;

/**
 * Shares one read among all callers that requested it before it started. While the maximum number of reads is running,
 * later callers share the next one; so every caller gets a result that was read after its call, and any number of
 * concurrent callers causes few concurrent reads. A read starts after all callers of the same turn of the event loop.
 * Reads may finish in another order than they started: state that `read` caches must allow for that.
 */
export function coalesce<K, V>(read: (keys: K[]) => Promise<V>): (key: K) => Promise<V> {
  interface Round {
    keys: Set<K>;
    answer: Promise<V>;
  }
  /** What each next's next round waits for; rounds take them in turn. */
  const reads: Promise<unknown>[] = Array.from({ length: CONCURRENT_READS }, () => Promise.resolve());
  let next = 0;
  let waiting: Round | undefined;

  return (key) => {
    if (!waiting) {
      const round: Round = { keys: new Set(), answer: undefined as never };
      round.answer = reads[next]!.then(() => turn()).then(() => {
        // from here on callers belong to the next round
        waiting = undefined;
        return read([...round.keys]);
      });
      reads[next] = round.answer.catch(() => undefined);
      next = (next + 1) % CONCURRENT_READS;
      waiting = round;
    }
    waiting.keys.add(key);
    return waiting.answer;
  };
}
