/**
 * Limits how many tasks run at once; the others wait in the order in which they came.
 * @param limit at least 1.
 */
export function createSemaphore(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // the next task takes over this one's slot
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
