import type { TermCounts } from './matching.types.ts';
import { Numbers, type Paused, ROWS_PER_PAUSE, type RowSource } from './numbers.ts';
import { weightOf } from './vocabulary.ts';

/**
 * Sparse vectors by row: the terms of row `r` are `terms[starts[r] .. starts[r + 1])`, ascending, with their weights; each row
 * has unit length or no terms.
 */
export interface Vectors {
  starts: Uint32Array;
  terms: Uint32Array;
  weights: Float32Array;
}

/** A TF-IDF vector space of two lists. */
export interface Space {
  name: string;
  /** Sorted. */
  terms: readonly string[];
  /** By term: its number of rows in both lists, in the training data. */
  counts: Uint32Array;
  /** Number of rows in the training data. */
  rows: number;
  /** By term: the natural logarithm of (rows + 1) / (rows with it), reduced for fillers and general words. */
  idf: Float64Array;
  left: Vectors;
  /** The same object as `left` if one list is compared with itself. */
  right: Vectors;
}

/**
 * Weights terms by TF-IDF with the damped frequency 1 + ln(count). With `known` frequencies, these are used, and new terms count
 * as if they occurred once.
 */
export function* spaceOf(
  name: string,
  terms: readonly string[],
  left: RowSource,
  right: RowSource | null,
  known?: TermCounts,
): Paused<Space> {
  const own = new Uint32Array(terms.length);
  const sizes = [yield* countRows(left, own), right ? yield* countRows(right, own) : 0] as const;
  const counts = known ? knownCounts(terms, known) : own;
  const rows = known?.rows ?? left.count + (right?.count ?? 0);
  const ofWords = name.startsWith('words ');
  const idf = Float64Array.from(
    counts,
    (count, term) => (ofWords ? weightOf(terms[term]!) : 1) * Math.log((rows + 1) / Math.max(1, count)),
  );
  const leftVectors = yield* vectorsOf(left, idf, sizes[0]);
  return {
    name,
    terms,
    counts,
    rows,
    idf,
    left: leftVectors,
    right: right ? yield* vectorsOf(right, idf, sizes[1]) : leftVectors,
  };
}

/** Term frequencies of a space for a model, without terms that occur once, which is the default for unknown terms. */
export function countsOf({ rows, terms, counts }: Space): TermCounts {
  const frequent = [...terms.keys()].filter((term) => counts[term]! > 1);
  return { rows, terms: frequent.map((term) => terms[term]!), counts: frequent.map((term) => counts[term]!) };
}

/** Looks up each term in the sorted known ones: there may be few terms and many known ones. */
function knownCounts(terms: readonly string[], known: TermCounts): Uint32Array {
  let from = 0;
  return Uint32Array.from(terms, (term) => {
    for (let to = known.terms.length; from < to; ) {
      const middle = (from + to) >> 1;
      if (known.terms[middle]! < term) from = middle + 1;
      else to = middle;
    }
    return known.terms[from] === term ? known.counts[from]! : 1;
  });
}

/** Counts the rows of each term. @returns the number of different terms of all rows. */
function* countRows({ count, fill }: RowSource, counts: Uint32Array): Paused<number> {
  const last = new Int32Array(counts.length).fill(-1);
  const items = new Numbers();
  let size = 0;
  for (let row = 0; row < count; row++) {
    if (row % ROWS_PER_PAUSE === 0) yield;
    items.length = 0;
    fill(row, items);
    for (const item of items.items()) {
      if (last[item] === row) continue;
      last[item] = row;
      counts[item]!++;
      size++;
    }
  }
  return size;
}

/** @param size the number of different terms of all rows, so that arrays need not grow. */
function* vectorsOf({ count, fill }: RowSource, idf: Float64Array, size: number): Paused<Vectors> {
  const ends = new Uint32Array(count + 1);
  const terms = new Uint32Array(size);
  const weights = new Float32Array(size);
  const items = new Numbers();
  let end = 0;
  for (let row = 0; row < count; row++) {
    if (row % ROWS_PER_PAUSE === 0) yield;
    items.length = 0;
    fill(row, items);
    const sorted = items.items().sort();
    const first = end;
    let squares = 0;
    for (let at = 0; at < sorted.length; ) {
      const term = sorted[at]!;
      let count = 0;
      for (; sorted[at] === term; at++) count++;
      const weight = (1 + Math.log(count)) * idf[term]!;
      squares += weight * weight;
      terms[end] = term;
      weights[end++] = weight;
    }
    const length = Math.sqrt(squares) || 1;
    for (let at = first; at < end; at++) weights[at]! /= length;
    ends[row + 1] = end;
  }
  return { starts: ends, terms, weights };
}

/** Whether a row has no terms. */
export const isEmpty = ({ starts }: Vectors, row: number): boolean => starts[row] === starts[row + 1];

/** The cosine of two rows: 0 without a common term, 1 for proportional terms. */
export function cosine(left: Vectors, a: number, right: Vectors, b: number): number {
  let sum = 0;
  let i = left.starts[a]!;
  let j = right.starts[b]!;
  const endI = left.starts[a + 1]!;
  const endJ = right.starts[b + 1]!;
  while (i < endI && j < endJ) {
    const term = left.terms[i]!;
    const other = right.terms[j]!;
    if (term === other) sum += left.weights[i++]! * right.weights[j++]!;
    else if (term < other) i++;
    else j++;
  }
  // weights are 32-bit floats: the cosine of equal rows is 1 up to rounding errors
  return sum > 0.999_999 ? 1 : sum;
}
