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

let slots = new Int32Array(0);
let starts = new Uint32Array(0);

/** The dictionary of a column whose values repeat; undefined where they don't. It stands until the next one is made. */
export function dictionaryOf(column: FlatColumn): Dictionary | undefined {
  const { count, bytes, used } = column;
  const most = Math.floor(count / REPEATS);
  if (most === 0) return undefined;
  const size = 2 ** (Math.ceil(Math.log2(most)) + 1);
  if (slots.length < size) {
    slots = new Int32Array(size);
    starts = new Uint32Array(size);
  }
  slots.fill(0, 0, size);
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
  return { values: chosen(column, found), count: found, indexes };
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
function chosen(column: FlatColumn, found: number): Uint8Array {
  const parts = Array.from(starts.subarray(0, found), (at) => column.bytes.subarray(at, column.endOf(at)));
  return Buffer.concat(parts);
}
