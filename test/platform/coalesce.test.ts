import { setImmediate as turn } from 'node:timers/promises';
import { createMemoryCache } from '../../platform/cache.ts';
import { coalesce } from '../../platform/coalesce.ts';

describe('coalesce', () => {
  it('shares one read among those who asked before it began, and never serves an older one', async () => {
    let started = 0;
    const gates: (() => void)[] = [];
    const read = coalesce<number, number>(async (keys) => {
      started += 1;
      await new Promise<void>((resolve) => gates.push(resolve));
      return keys.length;
    });
    const first = read(1);
    while (started < 1) await turn();
    const second = [read(2), read(3)];
    while (started < 2) await turn();
    // as many as may be are on their way, so those who come now share the next
    const later = [read(4), read(5), read(5), read(6)];
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(started).toBe(2);
    gates[0]!();
    expect(await first).toBe(1);
    while (started < 3) await turn();
    gates[2]!();
    expect(await Promise.all(later)).toEqual([3, 3, 3, 3]);
    // the one that began before them ends after them, and says what it read
    gates[1]!();
    expect(await Promise.all(second)).toEqual([2, 2]);
    expect(started).toBe(3);
  });

  it('goes on after a failure', async () => {
    let fail = true;
    const read = coalesce<string, string>(async ([key]) => {
      if (fail) throw new Error('down');
      return key!;
    });
    await expect(read('a')).rejects.toThrow('down');
    fail = false;
    expect(await read('b')).toBe('b');
  });
});

it('a memory cache keeps values within its size, the unused ones go first', async () => {
  const cache = createMemoryCache(4_400);
  await cache.set('a', 'x'.repeat(400), 60);
  await cache.set('b', 'y'.repeat(400), 60);
  await cache.get('a');
  for (const key of ['c', 'd', 'e']) await cache.set(key, 'z'.repeat(400), 60);
  expect(await cache.get('b')).toBeUndefined();
  expect(await cache.get('a')).toBeDefined();
  await cache.set('big', 'x'.repeat(2_000), 60);
  expect(await cache.get('big')).toBeUndefined();
  await cache.set('old', 'x', -1);
  expect(await cache.get('old')).toBeUndefined();
});
