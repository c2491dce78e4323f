import { misspelling } from './misspellings.ts';
import type { Space, Vectors } from './vectors.ts';

/** Weight of the words that one name has in addition to all of the other, relative to words that contradict each other. */
const ONE_SIDED = 0.8;
/** A word that more rows have is spelt as intended, and no misspelling. */
const MOST_MISSPELT = 2;
/** Minimum common letters of two forms of one word (`planner`, `planning`), and their minimum share. */
const STEM = { letters: 5, share: 0.6 };
const SAME_STEM = 0.75;
/** Maximum words per name that are compared by letters. */
const MOST_LOOKED_AT = 8;

/**
 * The agreement of two names: the weight (IDF) of their common words, relative to that of all words. A misspelt word and other
 * forms of a word agree in part. Words that only one name has count less than words by which the names differ.
 */
export function agreementOf({ terms, counts, idf, left, right }: Space, a: number, b: number): number {
  const own = termsIn(left, a);
  const others = termsIn(right, b);
  let [common, differing] = [0, 0];
  for (const term of own) if (others.includes(term)) common += idf[term]!;
  const rest = own.filter((term) => !others.includes(term));
  const otherRest = others.filter((term) => !own.includes(term));
  const taken = new Set<number>();
  if (rest.length > 0 && otherRest.length > 0) {
    const found: { x: number; y: number; share: number }[] = [];
    for (const x of rest.slice(0, MOST_LOOKED_AT))
      for (const y of otherRest.slice(0, MOST_LOOKED_AT)) {
        const share = similarWords(terms[x]!, terms[y]!, Math.min(counts[x]!, counts[y]!));
        if (share > 0) found.push({ x, y, share });
      }
    found.sort((p, q) => q.share - p.share || p.x - q.x || p.y - q.y);
    for (const { x, y, share } of found) {
      if (taken.has(x) || taken.has(y)) continue;
      taken.add(x).add(y);
      const weight = Math.min(idf[x]!, idf[y]!);
      common += share * weight;
      differing += (1 - share) * weight;
    }
  }
  const sum = (words: number[]) =>
    words.reduce((total, term) => total + (taken.has(term) ? 0 : idf[term]!), 0);
  const [less, more] = [sum(rest), sum(otherRest)].sort((p, q) => p - q) as [number, number];
  const all = common + differing + 2 * less + ONE_SIDED * (more - less);
  return all > 0 ? common / all : 1;
}

const termsIn = ({ starts, terms }: Vectors, row: number): number[] => [
  ...terms.subarray(starts[row]!, starts[row + 1]!),
];

function similarWords(a: string, b: string, count: number): number {
  const slip = misspelling(a, b);
  if (slip > 0) return count <= MOST_MISSPELT ? slip : 0;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const longest = Math.max(a.length, b.length);
  return same >= STEM.letters && same >= STEM.share * longest && !/\p{N}/u.test(a + b) ? SAME_STEM : 0;
}
