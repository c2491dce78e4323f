import { type Corpus, wordsFor } from './corpus.ts';
import type { MatchField, MatchRecord } from './matching.types.ts';
import { Numbers, type Paused, rowsOf } from './numbers.ts';
import { itemsOf } from './records.ts';
import type { Space } from './vectors.ts';

/** Maximum number of items per list, since all pairs are compared. */
const MOST_NAMES = 12;

/** The items of all records as unit vectors: those of record `r` are `starts[r] .. starts[r + 1]`. */
interface Items {
  starts: Uint32Array;
  /** By item: its terms, ascending, are `terms[ends[i] .. ends[i + 1])`. */
  ends: Uint32Array;
  terms: Uint32Array;
  weights: Float64Array;
}

/** The similarity of the most similar items of two lists: the IDF-weighted cosine of their words. */
export function* listSimilarity(
  corpus: Corpus,
  field: MatchField,
  { terms, idf }: Space,
): Paused<(a: number, b: number) => number> {
  const places = new Map(terms.map((term, at) => [term, at]));
  const words = wordsFor(field, corpus.dictionary, corpus.vendorOf);
  const made = (records: readonly MatchRecord[]) =>
    itemsIn(records, idf, (record) =>
      itemsOf(record, field.name)
        .slice(0, MOST_NAMES)
        .map((item) => words({ id: '', values: { [field.name]: item } }).map((word) => places.get(word)!)),
    );
  const left = yield* made(corpus.left);
  return mostSimilar(left, corpus.right ? yield* made(corpus.right) : left);
}

const mostSimilar =
  (left: Items, right: Items) =>
  (a: number, b: number): number => {
    const [ends, otherEnds] = [left.starts[a + 1]!, right.starts[b + 1]!];
    if (left.starts[a] === ends || right.starts[b] === otherEnds) return Number.NaN;
    let best = 0;
    for (let one = left.starts[a]!; one < ends; one++)
      for (let other = right.starts[b]!; other < otherEnds; other++)
        best = Math.max(best, cosine(left, one, right, other));
    return best;
  };

function* itemsIn(
  records: readonly MatchRecord[],
  idf: Float64Array,
  termsOf: (record: MatchRecord) => number[][],
): Paused<Items> {
  const terms = new Numbers();
  const rows = yield* rowsOf(records.length, (row, ends) => {
    for (const item of termsOf(records[row]!)) {
      for (const term of Uint32Array.from(new Set(item)).sort()) terms.push(term);
      if (item.length > 0) ends.push(terms.length);
    }
  });
  const ends = new Uint32Array(rows.items.length + 1);
  ends.set(rows.items, 1);
  const weights = Float64Array.from(terms.items(), (term) => idf[term]!);
  for (let item = 0; item < rows.items.length; item++) {
    const own = weights.subarray(ends[item], ends[item + 1]);
    const length = Math.sqrt(own.reduce((sum, weight) => sum + weight * weight, 0)) || 1;
    for (let at = 0; at < own.length; at++) own[at]! /= length;
  }
  return { starts: rows.starts, ends, terms: terms.items(), weights };
}

function cosine(left: Items, one: number, right: Items, other: number): number {
  let [i, j] = [left.ends[one]!, right.ends[other]!];
  const [endI, endJ] = [left.ends[one + 1]!, right.ends[other + 1]!];
  let sum = 0;
  while (i < endI && j < endJ) {
    const [a, b] = [left.terms[i]!, right.terms[j]!];
    if (a === b) sum += left.weights[i++]! * right.weights[j++]!;
    else if (a < b) i++;
    else j++;
  }
  return sum > 0.999_999 ? 1 : sum;
}
