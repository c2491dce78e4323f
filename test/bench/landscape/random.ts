/** A source of numbers in [0, 1), always the same for the same seed. */
export type Random = () => number;

/** The mulberry32 generator: 32 bits of state, good enough for test data and very fast. */
export function mulberry32(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Mixes numbers into one well-spread 32-bit number, so that each row can have a generator of its own. */
export function mix(...parts: number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) {
    hash = Math.imul(hash ^ (part >>> 0), 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** A whole number from `from` to `to`, both included. */
export const between = (random: Random, from: number, to: number): number =>
  from + Math.floor(random() * (to - from + 1));

export const pick = <T>(random: Random, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)]!;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/**
 * A step that visits all of `size` places once when walked round and round: coprime with `size`, and near the
 * golden section, so that neighbours in the walk lie far apart.
 */
export function strideOf(size: number): number {
  let step = Math.max(1, Math.round(size * 0.6180339887));
  while (gcd(step, size) !== 1) step += 1;
  return step;
}
