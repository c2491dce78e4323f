import { setImmediate as turn } from 'node:timers/promises';

/**
 * Reads that may be on their way at once. With a single one half of those who ask have to wait for a whole read before
 * theirs begins, while the process has nothing to do; more make rounds smaller and so the database's work greater.
 */
const CONCURRENT_READS = 2;

/**
 * Shares one read among all callers that asked before it began. While as many reads as may be are under way, later
 * callers gather for the next one; so every caller gets an answer that was read after its call, and any number of
 * concurrent callers cost few reads at a time. A read begins when all that arrived in the same turn of the event loop
 * have asked. Reads may end in another order than they began: what `read` remembers must stand that.
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
