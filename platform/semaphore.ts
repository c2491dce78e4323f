import { EstateError } from './errors.ts';

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

/**
 * Limits how many tasks run at once, in all and of one user, so that the tasks of one user do not delay those of others.
 * @param queued tasks of one user that run or wait at most; more are refused.
 * @returns a function that runs a task for a user. It throws EstateError `too_many_requests`.
 */
export function createUserSemaphore({
  running,
  ofOneUser,
  queued,
}: {
  running: number;
  ofOneUser: number;
  queued: number;
}): <T>(user: string, task: () => Promise<T>) => Promise<T> {
  const all = createSemaphore(running);
  const users = new Map<string, { count: number; limited: ReturnType<typeof createSemaphore> }>();
  return async (user, task) => {
    const own = users.get(user) ?? { count: 0, limited: createSemaphore(ofOneUser) };
    if (own.count >= queued) {
      const detail = `At most ${queued} of your requests of this kind run or wait.`;
      throw new EstateError('too_many_requests', detail, { headers: { 'retry-after': '5' } });
    }
    users.set(user, own);
    own.count += 1;
    try {
      return await own.limited(() => all(task));
    } finally {
      own.count -= 1;
      if (own.count === 0) users.delete(user);
    }
  };
}
