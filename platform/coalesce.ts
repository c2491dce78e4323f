import { setImmediate as turn } from 'node:timers/promises';

/**
 * Shares one read among all callers that asked before it began. While a read is under way, later callers
 * gather for the next one; so every caller gets an answer that was read after its call, and any number of
 * concurrent callers cost one read at a time. A read begins when all that arrived in the same turn of the event loop
 * have asked.
 */
export function coalesce<K, V>(read: (keys: K[]) => Promise<V>): (key: K) => Promise<V> {
  interface Round {
    keys: Set<K>;
    answer: Promise<V>;
  }
  let current: Promise<unknown> = Promise.resolve();
  let waiting: Round | undefined;

  return (key) => {
    if (!waiting) {
      const round: Round = { keys: new Set(), answer: undefined as never };
      round.answer = current
        .then(() => turn())
        .then(() => {
          // from here on callers belong to the next round
          waiting = undefined;
          return read([...round.keys]);
        });
      current = round.answer.catch(() => undefined);
      waiting = round;
    }
    waiting.keys.add(key);
    return waiting.answer;
  };
}
