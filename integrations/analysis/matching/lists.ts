import { type Corpus, wordsFor } from './corpus.ts';
import type { MatchField, MatchRecord } from './matching.types.ts';
import { mapped, type Paused } from './numbers.ts';
import { itemsOf } from './records.ts';
import type { Space } from './vectors.ts';

/** Maximum number of items per list, since all pairs are compared. */
const MOST_NAMES = 12;

/** The similarity of the most similar items of two lists: the IDF-weighted cosine of their words. */
export function* listSimilarity(
  corpus: Corpus,
  field: MatchField,
  { terms, idf }: Space,
): Paused<(a: number, b: number) => number> {
  const weights = new Map(terms.map((term, at) => [term, idf[at]!]));
  const words = wordsFor(field, corpus.dictionary, corpus.vendorOf);
  const made = (records: readonly MatchRecord[]) =>
    mapped(records, (record) =>
      itemsOf(record, field.name)
        .slice(0, MOST_NAMES)
        .map((item) => vectorOf(words({ id: '', values: { [field.name]: item } }), weights))
        .filter(({ size }) => size > 0),
    );
  const lefts = yield* made(corpus.left);
  const rights = corpus.right ? yield* made(corpus.right) : lefts;
  return (a: number, b: number): number => {
    if (lefts[a]!.length === 0 || rights[b]!.length === 0) return Number.NaN;
    let best = 0;
    for (const one of lefts[a]!) for (const other of rights[b]!) best = Math.max(best, cosine(one, other));
    return best;
  };
}

function vectorOf(words: readonly string[], weights: ReadonlyMap<string, number>): Map<string, number> {
  // sorted, so that sums do not depend on the order
  const vector = new Map([...new Set(words)].sort().map((word) => [word, weights.get(word) ?? 0]));
  const length = Math.sqrt([...vector.values()].reduce((sum, weight) => sum + weight * weight, 0)) || 1;
  for (const [word, weight] of vector) vector.set(word, weight / length);
  return vector;
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [word, weight] of a) sum += weight * (b.get(word) ?? 0);
  return sum > 0.999_999 ? 1 : sum;
}
