/**
 * Lets so many tasks run at once; others wait for their turn, in the order in which they came.
 * @param limit at least 1.
 */
export function createTurns(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // whoever waits takes the place over
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
