import { shortfall, similarWords, VERSION } from './misspellings.ts';
import type { Space, Vectors } from './vectors.ts';
import { isDistinctive } from './vocabulary.ts';

/** Weight of the words that one name has in addition to all of the other, relative to words that contradict each other. */
const ONE_SIDED = 0.8;
/** The same for fillers and general words. */
const ONE_SIDED_GENERAL = 0.2;
/** The same for a version that only one name has, on which a rule decides. */
const ONE_SIDED_VERSION = 0.05;
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
    const isOneWord = own.length === 1 && others.length === 1;
    const short = isOneWord ? shortfall(terms[own[0]!]!, terms[others[0]!]!) : 0;
    const found: { x: number; y: number; share: number }[] = [];
    for (const x of rest.slice(0, MOST_LOOKED_AT))
      for (const y of otherRest.slice(0, MOST_LOOKED_AT)) {
        const share = similarWords(terms[x]!, terms[y]!, Math.min(counts[x]!, counts[y]!)) - short;
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
  const isVersion = (term: number) => VERSION.test(terms[term]!);
  const isTelling = (term: number) => isDistinctive(terms[term]!) && !isVersion(term);
  const sumOf = (words: number[], counts: (term: number) => boolean) =>
    words.reduce((sum, term) => sum + (!taken.has(term) && counts(term) ? idf[term]! : 0), 0);
  const [less, more] = [sumOf(rest, isTelling), sumOf(otherRest, isTelling)].sort((p, q) => p - q) as [
    number,
    number,
  ];
  const [version, otherVersion] = [sumOf(rest, isVersion), sumOf(otherRest, isVersion)];
  const ofVersion = version > 0 && otherVersion > 0 ? ONE_SIDED_GENERAL : ONE_SIDED_VERSION;
  const general = sumOf([...rest, ...otherRest], (term) => !isTelling(term) && !isVersion(term));
  const all =
    common +
    differing +
    2 * less +
    ONE_SIDED * (more - less) +
    ONE_SIDED_GENERAL * general +
    ofVersion * (version + otherVersion);
  return all > 0 ? common / all : 1;
}

const termsIn = ({ starts, terms }: Vectors, row: number): number[] => [
  ...terms.subarray(starts[row]!, starts[row + 1]!),
];
