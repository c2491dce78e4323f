import { createUserSemaphore } from '../../platform/semaphore.ts';

it('runs the tasks of one user a few at a time, and those of others beside them', async () => {
  const limited = createUserSemaphore({ running: 3, ofOneUser: 2, queued: 4 });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (user: string) =>
    limited(user, async () => {
      started.push(user);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const tasks = [run('a'), run('a'), run('a'), run('a'), run('b'), run('b')];
  await expect(run('a')).rejects.toMatchObject({ code: 'too_many_requests' });
  await Promise.resolve();
  expect(started).toEqual(['a', 'a', 'b']);
  while (started.length < 6 || ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(tasks);
  expect(started.toSorted()).toEqual(['a', 'a', 'a', 'a', 'b', 'b']);
  const again = run('a');
  await new Promise(setImmediate);
  ends.shift()!();
  await again;
});
