import { release } from '../../../platform/release.ts';
import { countOf, Numbers } from './numbers.ts';
import type { Space, Vectors } from './vectors.ts';

/** Pairs to compare: `left[i]` with `right[i]`, ascending and distinct. */
export interface Candidates {
  left: Uint32Array;
  right: Uint32Array;
}

/** Limits of the candidate search, so that its time is proportional to the number of records. */
export interface Reach {
  /** Candidates per record and space. */
  neighbours: number;
  /** Maximum total rows of the terms by which a record searches in each space, rarest term first. */
  postings: number;
}

/** Placeholder for a missing neighbour. */
export const NOBODY = 0xffff_ffff;

/**
 * The nearest rows of some rows in one space; plain data. Those of the row at index `r` are `rows[r * k .. (r + 1) * k)`, the
 * nearest first, filled with NOBODY. Any row nearer than `bounds[r]` is included.
 */
export interface Neighbours {
  rows: Uint32Array;
  bounds: Float64Array;
  /** How near each is, if this is asked for. */
  sums?: Float64Array;
}

/** Inverted index: the rows of term `t` are `rows[starts[t] .. starts[t + 1])`. */
interface Index {
  starts: Uint32Array;
  rows: Uint32Array;
  weights: Float32Array;
}

/** Builds an inverted index of the rows with each term, as far as it is searched by. */
function indexOf(vectors: Vectors, terms: number, searched: (row: number, at: number) => boolean): Index {
  const starts = new Uint32Array(terms + 1);
  const each = (found: (row: number, at: number) => void) => {
    for (let row = 0; row < countOf(vectors); row++)
      for (let at = vectors.starts[row]!; at < vectors.starts[row + 1]!; at++)
        if (searched(row, at)) found(row, at);
  };
  each((_, at) => starts[vectors.terms[at]! + 1]!++);
  for (let term = 0; term < terms; term++) starts[term + 1]! += starts[term]!;
  const next = starts.slice(0, terms);
  const rows = new Uint32Array(starts[terms]!);
  const weights = new Float32Array(starts[terms]!);
  each((row, at) => {
    const place = next[vectors.terms[at]!]!++;
    rows[place] = row;
    weights[place] = vectors.weights[at]!;
  });
  return { starts, rows, weights };
}

/**
 * Searches the nearest rows of one list for rows of another, by the cosine over a row's search terms: its rarest ones, up to a
 * total of `postings` rows when they were counted. The result for two records only depends on them and the model, unless a
 * third one is nearer. A row is not its own neighbour.
 */
export class Search {
  readonly #idf: Float64Array;
  readonly #counts: Uint32Array;
  readonly #from: Vectors;
  readonly #to: Vectors;
  readonly #reach: Reach;
  readonly #index: Index;
  readonly #sums: Float64Array;
  #searched: Index | undefined;

  constructor({ idf, counts }: Space, from: Vectors, to: Vectors, reach: Reach) {
    this.#idf = idf;
    this.#counts = counts;
    this.#from = from;
    this.#to = to;
    this.#reach = reach;
    // no row searches by a term of more rows
    this.#index = indexOf(to, idf.length, (_, at) => counts[to.terms[at]!]! <= reach.postings);
    this.#sums = new Float64Array(Math.max(countOf(to), countOf(from)));
  }

  /** Frees the memory; it cannot search any more. */
  end(): void {
    for (const { starts, rows, weights } of [this.#index, this.#searched ?? this.#index])
      release(starts, rows, weights);
    release(this.#sums);
  }

  /** Space for the neighbours of a number of rows. */
  noNeighbours(rows: number, withSums = false): Neighbours {
    return {
      ...(withSums && { sums: new Float64Array(rows * this.#reach.neighbours) }),
      rows: new Uint32Array(rows * this.#reach.neighbours).fill(NOBODY),
      bounds: new Float64Array(rows),
    };
  }

  /** Writes the neighbours of the given rows to `found`, from a place on. */
  addNearest(rows: ArrayLike<number>, found: Neighbours, from: number): void {
    const k = this.#reach.neighbours;
    const touched: number[] = [];
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      for (const term of this.#searchedBy(row)) this.#add(this.#index, this.#from, term, touched);
      if (this.#from === this.#to) this.#sums[row] = 0;
      const near = largest(touched, this.#sums, k);
      found.rows.set(near, (from + at) * k);
      if (found.sums)
        for (const [place, other] of near.entries()) found.sums[(from + at) * k + place] = this.#sums[other]!;
      if (near.length === k) found.bounds[from + at] = this.#sums[near[k - 1]!]!;
      this.#forget(touched);
    }
  }

  /** The rows that have, or may have, one of the given rows as neighbour; `bounds` are those of all rows. */
  sought(row: number, bounds: Float64Array): number[] {
    this.#searched ??= this.#searchedIndex();
    const touched: number[] = [];
    for (const at of termsByRarity(this.#idf, this.#to, row))
      this.#add(this.#searched, this.#to, at, touched);
    const found = touched.filter(
      (other) => other !== row && this.#sums[other]! > 0 && this.#sums[other]! >= bounds[other]!,
    );
    this.#forget(touched);
    return found;
  }

  #add(index: Index, vectors: Vectors, at: number, touched: number[]): void {
    const term = vectors.terms[at]!;
    const weight = vectors.weights[at]!;
    for (let entry = index.starts[term]!; entry < index.starts[term + 1]!; entry++) {
      const other = index.rows[entry]!;
      if (this.#sums[other] === 0) touched.push(other);
      this.#sums[other]! += weight * index.weights[entry]!;
    }
  }

  #forget(touched: number[]): void {
    for (const other of touched) this.#sums[other] = 0;
    touched.length = 0;
  }

  /** Positions of a row's search terms, rarest first: sums are computed in this order from both sides. */
  #searchedBy(row: number): number[] {
    let budget = this.#reach.postings;
    return termsByRarity(this.#idf, this.#from, row).filter((at) => {
      const count = this.#counts[this.#from.terms[at]!]!;
      if (count > budget) return false;
      budget -= count;
      return true;
    });
  }

  #searchedIndex(): Index {
    let [last, places] = [-1, new Set<number>()];
    return indexOf(this.#from, this.#idf.length, (row, at) => {
      if (row !== last) [last, places] = [row, new Set(this.#searchedBy(row))];
      return places.has(at);
    });
  }
}

function termsByRarity(idf: Float64Array, vectors: Vectors, row: number): number[] {
  const places: number[] = [];
  for (let at = vectors.starts[row]!; at < vectors.starts[row + 1]!; at++) places.push(at);
  return places.sort((a, b) => idf[vectors.terms[b]!]! - idf[vectors.terms[a]!]! || a - b);
}

/** The rows with the largest positive sums; for equal sums the lower row. */
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

/** Collects pairs of rows and neighbours from both sides. */
export class Pairs {
  readonly #lefts = new Numbers();
  readonly #rights = new Numbers();
  #most = 0;

  /** Adds the neighbours of all rows; `turned` if these are right rows. */
  add({ rows, bounds }: Neighbours, order: 'given' | 'turned' | 'rising'): void {
    const k = rows.length / Math.max(1, bounds.length);
    for (let at = 0; at < rows.length; at++) {
      const b = rows[at]!;
      if (b === NOBODY) continue;
      const a = Math.floor(at / k);
      if (order === 'turned' || (order === 'rising' && a > b)) this.push(b, a);
      else this.push(a, b);
    }
  }

  push(left: number, right: number): void {
    this.#lefts.push(left);
    this.#rights.push(right);
    this.#most = Math.max(this.#most, right);
  }

  /** The distinct pairs, ascending; no others can be added. Rows are below 2^26, so that a pair is an exact number. */
  distinct(): Candidates {
    const count = this.#most + 1;
    const [lefts, rights] = [this.#lefts.items(), this.#rights.items()];
    const keys = new Float64Array(lefts.length);
    for (let at = 0; at < keys.length; at++) keys[at] = lefts[at]! * count + rights[at]!;
    keys.sort();
    release(lefts, rights);
    let distinct = 0;
    for (let at = 0; at < keys.length; at++)
      if (at === 0 || keys[at] !== keys[at - 1]) keys[distinct++] = keys[at]!;
    const [left, right] = [new Uint32Array(distinct), new Uint32Array(distinct)];
    for (let at = 0; at < distinct; at++) {
      left[at] = Math.floor(keys[at]! / count);
      right[at] = keys[at]! % count;
    }
    release(keys);
    return { left, right };
  }
}
