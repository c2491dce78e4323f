import { createResultCache } from '../../domain/kernel/lists/result.cache.ts';
import { createLru } from '../../platform/lru.ts';

it('holds no more bytes than it may, counts keys too, and drops what was unused for longest', () => {
  const cache = createLru<string>(10_000, (value) => 2 * value.length);
  cache.set('first', 'x'.repeat(500));
  for (let n = 0; n < 1_000; n += 1) {
    cache.set(`${n}${'k'.repeat(500)}`, 'y');
    expect(cache.get('first')).toBeDefined();
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(cache.get(`0${'k'.repeat(500)}`)).toBeUndefined();
  expect(cache.get(`999${'k'.repeat(500)}`)).toBe('y');
});

it('keeps no value that would take the place of most others', () => {
  const cache = createLru<string>(10_000, (value) => 2 * value.length);
  cache.set('a', 'small');
  cache.set('b', 'x'.repeat(2_000));
  expect([cache.get('a'), cache.get('b')]).toEqual(['small', undefined]);
  cache.set('a', 'x'.repeat(2_000));
  expect(cache.get('a')).toBeUndefined();
  expect(cache.bytes).toBe(0);
});

it('of computed results is bounded by its keys as well, and keeps no failure', async () => {
  const kept = createResultCache<number>(10_000, () => 8);
  let computed = 0;
  const ask = (n: number) => kept.get(`${n}${'k'.repeat(1_000)}`, async () => (computed += 1));
  for (let n = 0; n < 100; n += 1) await ask(n);
  await ask(99);
  expect(computed).toBe(100);
  await ask(0);
  expect(computed).toBe(101);
  await expect(kept.get('bad', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await Promise.all([1, 2].map(() => kept.get('bad', async () => (computed += 1))))).toEqual([
    102, 102,
  ]);
});
