import { cosine, type Space, type Vectors } from './vectors.ts';

/** The letters of a word as bits; several letters have the same bit. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Whether two words have so many different letters that their distance is greater: one edit replaces one by another. */
function isFar(a: string, b: string, most: number): boolean {
  let different = lettersOf(a) ^ lettersOf(b);
  let count = 0;
  for (; different !== 0; count++) different &= different - 1;
  return count > 2 * most;
}

/** The Damerau-Levenshtein distance (optimal string alignment); `most + 1` if it is greater than `most`. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most || isFar(a, b, most)) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let at = 1; at <= b.length; at++) {
      const wrong = a[row - 1] === b[at - 1] ? 0 : 1;
      let least = Math.min(last[at]! + 1, next[at - 1]! + 1, last[at - 1]! + wrong);
      if (row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1])
        least = Math.min(least, before[at - 2]! + 1);
      next.push(least);
    }
    if (Math.min(...next) > most) return most + 1;
    [before, last] = [last, next];
  }
  return Math.min(last[b.length]!, most + 1);
}

/** Minimum lengths of the longer word for one wrong letter, and of the shorter word for two. */
const [ONE_WRONG, TWO_WRONG] = [5, 8];
/** How much a wrong letter counts: left out, doubled or swapped; another letter, which is rarely a slip; and a wrong first letter. */
const COST = { slip: 0.5, replaced: 0.8, first: 0.5 };

/** The similarity of two words if one is a misspelling of the other, relative to their length; else 0. */
export function misspelling(a: string, b: string): number {
  const [shorter, longer] = a.length < b.length ? [a.length, b.length] : [b.length, a.length];
  const allowed = shorter >= TWO_WRONG ? 2 : longer >= ONE_WRONG ? 1 : 0;
  if (allowed === 0 || longer - shorter > allowed || isFar(a, b, allowed) || /\p{N}/u.test(a + b)) return 0;
  const wrong = editDistance(a, b, allowed);
  // who mistypes the first letter seldom makes a second mistake: `radiologie` and `kardiologie` are two words
  if (wrong > allowed || (wrong > 1 && a[0] !== b[0])) return 0;
  const cost = wrong * (wrong === 1 && isReplaced(a, b) ? COST.replaced : COST.slip);
  return 1 - (cost + (a[0] === b[0] ? 0 : COST.first)) / longer;
}

/** Whether two words of distance 1 differ in one place. */
const isReplaced = (a: string, b: string): boolean => {
  let at = 0;
  while (a[at] === b[at]) at++;
  return a.length === b.length && a.slice(at + 1) === b.slice(at + 1);
};

/** A word that more rows have is spelt as intended, and no misspelling. */
const MOST_MISSPELT = 2;
/** Minimum common letters of two forms of one word (`planner`, `planning`), and their minimum share. */
const STEM = { letters: 5, share: 0.6 };
const SAME_STEM = 0.6;
/** Similarity of a word and its abbreviation, and the minimum letters that this leaves out. */
const ABBREVIATED = 0.85;
const LEAST_LEFT_OUT = 2;
/** Minimum letters of a beginning (`sched`), or of some letters of a word up to its last one (`mgmt`). */
const SHORTEST = 3;

/**
 * The similarity of two words: of a misspelling, unless both are frequent; of an abbreviation; and of two forms of a word.
 * @param count the number of rows with the rarer word
 */
export function similarWords(a: string, b: string, count: number): number {
  const slip = misspelling(a, b);
  if (slip > 0) return count <= MOST_MISSPELT ? slip : 0;
  if (isAbbreviated(a, b) || isAbbreviated(b, a)) return ABBREVIATED;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const longest = Math.max(a.length, b.length);
  return same >= STEM.letters && same >= STEM.share * longest && !/\p{N}/u.test(a + b) ? SAME_STEM : 0;
}

/** Letters of a name of one word from which a misspelling counts fully, and what each missing letter takes. */
const LONG_NAME = 8;
const MISSING_LETTER = 0.08;

/** By how much two names of one word each are less similar than these words: most short names of similar letters differ. */
export const shortfall = (a: string, b: string): number =>
  MISSING_LETTER * Math.max(0, LONG_NAME - Math.max(a.length, b.length));

/** Whether a word is the beginning of a longer one, or consists of its first, last and some consonants between. */
function isAbbreviated(short: string, long: string): boolean {
  if (short.length < SHORTEST || long.length - short.length < LEAST_LEFT_OUT || short[0] !== long[0])
    return false;
  if (/[^a-z]/.test(short + long)) return false;
  if (long.startsWith(short)) return true;
  if (short.at(-1) !== long.at(-1) || /[aeiou]/.test(short.slice(1, -1))) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at++;
  return at === short.length;
}

/** Maximum number of words per name that are checked for misspellings, the rarest first. */
const MOST_LOOKED_AT = 4;

/** The cosine of two rows of words, in which similar words count in part. */
export function cosineWithSlips({ terms, counts, left, right }: Space, a: number, b: number): number {
  const exact = cosine(left, a, right, b);
  if (exact === 1) return 1;
  const own = onlyIn(left, a, right, b);
  const others = onlyIn(right, b, left, a);
  // most similar first, symmetric in both rows
  const isOneWord = isSingle(left, a) && isSingle(right, b);
  const short = isOneWord
    ? shortfall(terms[left.terms[left.starts[a]!]!]!, terms[right.terms[right.starts[b]!]!]!)
    : 0;
  const found = own
    .flatMap((at) => others.map((other) => slipOf({ terms, counts }, left, at, right, other)))
    .map((slip) => ({ ...slip, share: slip.share - short }))
    .filter(({ share }) => share > 0)
    .sort((x, y) => y.share - x.share || y.weight - x.weight || x.low - y.low || x.high - y.high);
  const taken = new Set<number>();
  let sum = exact;
  for (const { share, weight, low, high } of found) {
    if (taken.has(low) || taken.has(high)) continue;
    taken.add(low).add(high);
    sum += share * weight;
  }
  const [version, otherVersion] = [versionsIn(terms, left, own), versionsIn(terms, right, others)];
  // without the versions that only one row has, on which a rule decides
  const whole =
    version > 0 && otherVersion > 0 ? 1 : Math.sqrt(Math.max(1 - version - otherVersion, LEAST_WHOLE));
  return Math.min(1, sum / whole);
}

/** A number of a name, which may be its version. */
export const VERSION = /^\p{N}{1,4}(?:·\p{N}+)*$/u;
/** Minimum share of a row's squared weights that are not of versions. */
const LEAST_WHOLE = 0.25;

/** The share of terms at these positions that are versions in the squared weights of a row. */
const versionsIn = (terms: readonly string[], of: Vectors, positions: readonly number[]): number =>
  positions.reduce((sum, at) => sum + (VERSION.test(terms[of.terms[at]!]!) ? of.weights[at]! ** 2 : 0), 0);

function slipOf(
  { terms, counts }: Pick<Space, 'terms' | 'counts'>,
  left: Vectors,
  at: number,
  right: Vectors,
  other: number,
) {
  const [one, two] = [left.terms[at]!, right.terms[other]!];
  return {
    share: similarWords(terms[one]!, terms[two]!, Math.min(counts[one]!, counts[two]!)),
    weight: left.weights[at]! * right.weights[other]!,
    low: Math.min(one, two),
    high: Math.max(one, two),
  };
}

const isSingle = ({ starts }: Vectors, row: number): boolean => starts[row + 1]! - starts[row]! === 1;

/** Positions of the terms that only one row has, highest weight first. */
function onlyIn(of: Vectors, row: number, other: Vectors, otherRow: number): number[] {
  const places: number[] = [];
  let at = other.starts[otherRow]!;
  const end = other.starts[otherRow + 1]!;
  for (let place = of.starts[row]!; place < of.starts[row + 1]!; place++) {
    while (at < end && other.terms[at]! < of.terms[place]!) at++;
    if (at >= end || other.terms[at] !== of.terms[place]) places.push(place);
  }
  return places.sort((x, y) => of.weights[y]! - of.weights[x]! || x - y).slice(0, MOST_LOOKED_AT);
}
