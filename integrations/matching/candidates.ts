import { countOf, Numbers } from './numbers.ts';
import type { Space, Vectors } from './vectors.ts';

/** Pairs worth comparing: `left[i]` with `right[i]`, rising, each once. */
export interface Candidates {
  left: Uint32Array;
  right: Uint32Array;
}

/** Rows whose neighbours are looked for between two yields. */
const ROWS_PER_YIELD = 250;

/** How far the search for candidates goes; both bound its time by the number of records. */
export interface Reach {
  /** Candidates that each record brings in by each space. */
  neighbours: number;
  /** Entries of the index that are read for a record in each space, its rarest terms first. */
  postings: number;
  /** Neighbours are looked for from either side, or from the left alone. */
  from?: 'both' | 'left';
}

/** The rows that hold each term: those of term `t` are `rows[starts[t] .. starts[t + 1])`. */
interface Index {
  starts: Uint32Array;
  rows: Uint32Array;
  weights: Float32Array;
}

function indexOf(vectors: Vectors, terms: number): Index {
  const starts = new Uint32Array(terms + 1);
  for (const term of vectors.terms) starts[term + 1]!++;
  for (let term = 0; term < terms; term++) starts[term + 1]! += starts[term]!;
  const next = starts.slice(0, terms);
  const rows = new Uint32Array(vectors.terms.length);
  const weights = new Float32Array(vectors.terms.length);
  for (let row = 0; row < countOf(vectors); row++) {
    for (let at = vectors.starts[row]!; at < vectors.starts[row + 1]!; at++) {
      const place = next[vectors.terms[at]!]!++;
      rows[place] = row;
      weights[place] = vectors.weights[at]!;
    }
  }
  return { starts, rows, weights };
}

/**
 * The nearest rows of `right` to each row of `left`, by the cosine over the rarest terms, given to `found`. A row is not its
 * own neighbour where both are one list. Yields the share of the rows that are done.
 */
function* nearest(
  idf: Float64Array,
  left: Vectors,
  right: Vectors,
  reach: Reach,
  found: (a: number, b: number) => void,
): Generator<number, void> {
  const index = indexOf(right, idf.length);
  const sums = new Float64Array(countOf(right));
  const touched: number[] = [];
  for (let row = 0; row < countOf(left); row++) {
    if (row % ROWS_PER_YIELD === 0) yield row / countOf(left);
    let budget = reach.postings;
    const order = termsByRarity(idf, left, row);
    for (const at of order) {
      const term = left.terms[at]!;
      const from = index.starts[term]!;
      const to = index.starts[term + 1]!;
      if (to - from > budget) continue;
      budget -= to - from;
      for (let entry = from; entry < to; entry++) {
        const other = index.rows[entry]!;
        if (sums[other] === 0) touched.push(other);
        sums[other]! += left.weights[at]! * index.weights[entry]!;
      }
    }
    if (left === right) sums[row] = 0;
    for (const other of largest(touched, sums, reach.neighbours)) found(row, other);
    for (const other of touched) sums[other] = 0;
    touched.length = 0;
  }
}

function termsByRarity(idf: Float64Array, vectors: Vectors, row: number): number[] {
  const places: number[] = [];
  for (let at = vectors.starts[row]!; at < vectors.starts[row + 1]!; at++) places.push(at);
  return places.sort((a, b) => idf[vectors.terms[b]!]! - idf[vectors.terms[a]!]! || a - b);
}

/** The rows with the largest sums above 0; of equal ones the first. */
function largest(rows: readonly number[], sums: Float64Array, count: number): number[] {
  const above = (a: number, b: number) => sums[a]! > sums[b]! || (sums[a] === sums[b] && a < b);
  const best: number[] = [];
  for (const row of rows) {
    if (sums[row] === 0 || (best.length === count && !above(row, best[count - 1]!))) continue;
    let place = best.length === count ? count - 1 : best.length;
    while (place > 0 && above(row, best[place - 1]!)) {
      best[place] = best[place - 1]!;
      place--;
    }
    best[place] = row;
  }
  return best;
}

/**
 * The pairs that are near each other in one of the spaces, seen from either side. A space whose both sides are one list gives
 * each pair once, the smaller row on the left. Yields the share of the search that is done.
 */
export function* candidatesOf(spaces: readonly Space[], reach: Reach): Generator<number, Candidates> {
  const lefts = new Numbers();
  const rights = new Numbers();
  let searches = 0;
  for (const { left, right, idf } of spaces) {
    const same = left === right;
    const once = same || reach.from === 'left';
    const all = spaces.length * (once ? 1 : 2);
    for (const share of nearest(idf, left, right, reach, (a, b) => {
      lefts.push(same && a > b ? b : a);
      rights.push(same && a > b ? a : b);
    }))
      yield (searches + share) / all;
    searches += 1;
    if (once) continue;
    for (const share of nearest(idf, right, left, reach, (b, a) => {
      lefts.push(a);
      rights.push(b);
    }))
      yield (searches + share) / all;
    searches += 1;
  }
  return distinct(lefts.items(), rights.items(), Math.max(1, ...spaces.map(({ right }) => countOf(right))));
}

/** Pairs in rising order, each once. Rows are fewer than 2^26, so that a pair is a number that is exact. */
function distinct(lefts: Uint32Array, rights: Uint32Array, count: number): Candidates {
  const keys = Float64Array.from(lefts, (left, at) => left * count + rights[at]!).sort();
  const once = keys.filter((key, at) => at === 0 || key !== keys[at - 1]);
  return {
    left: Uint32Array.from(once, (key) => Math.floor(key / count)),
    right: Uint32Array.from(once, (key) => key % count),
  };
}
