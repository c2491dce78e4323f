import type { FlatColumn } from './parquet.flat.ts';

/** The values of a column, each once. */
export interface Dictionary {
  /** In the plain encoding. */
  values: Uint8Array;
  count: number;
  /** Which of them each value is. */
  indexes: Uint32Array;
}

/** A dictionary is worth its place when a value stands so many times on average. */
const REPEATS = 4;
/** After so many values it shows whether they repeat. */
const LOOKED = 256;
/** Bytes of a value that are looked at to tell it from others, at most twice as many. */
const HASHED = 32;

/** The dictionary of a column whose values repeat; undefined when they do not. */
export function dictionaryOf(column: FlatColumn): Dictionary | undefined {
  const { count, bytes, used } = column;
  const most = Math.floor(count / REPEATS);
  if (most === 0) return undefined;
  const size = 2 ** (Math.ceil(Math.log2(most)) + 1);
  // of each slot the number of its value and 1; of each value where it begins
  const slots = new Int32Array(size);
  const starts = new Uint32Array(most);
  const indexes = new Uint32Array(count);
  let found = 0;
  let n = 0;
  for (let at = 0; at < used; n += 1) {
    const end = column.endOf(at);
    let slot = hashOf(bytes, at, end) & (size - 1);
    while (slots[slot] !== 0 && !same(bytes, at, end, starts[slots[slot]! - 1]!))
      slot = (slot + 1) & (size - 1);
    if (slots[slot] === 0) {
      if (found === most || (n > LOOKED && found * 2 > n)) return undefined;
      starts[found] = at;
      found += 1;
      slots[slot] = found;
    }
    indexes[n] = slots[slot]! - 1;
    at = end;
  }
  return { values: distinctValues(column, starts.subarray(0, found)), count: found, indexes };
}

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  const step = Math.max(1, Math.floor((to - from) / HASHED));
  let hash = to - from;
  for (let at = from; at < to; at += step) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Whether a value is the same as the one that begins at `other`: a text has its length before it. */
function same(bytes: Uint8Array, from: number, to: number, other: number): boolean {
  for (let n = to - from - 1; n >= 0; n -= 1) if (bytes[from + n] !== bytes[other + n]) return false;
  return true;
}

/** The values that were found, one after the other. */
function distinctValues(column: FlatColumn, starts: Uint32Array): Uint8Array {
  const parts = Array.from(starts, (at) => column.bytes.subarray(at, column.endOf(at)));
  return Buffer.concat(parts);
}
