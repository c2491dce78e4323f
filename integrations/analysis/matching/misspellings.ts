import { cosine, type Space, type Vectors } from './vectors.ts';

/** The Damerau-Levenshtein distance (optimal string alignment); `most + 1` if it is greater than `most`. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
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
  return last[b.length]!;
}

/** Minimum word lengths for one and two wrong letters. */
const [ONE_WRONG, TWO_WRONG] = [5, 8];

/** The share of correct letters if one word is a misspelling of the other; else 0. */
export function misspelling(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  const allowed = shorter >= TWO_WRONG ? 2 : shorter >= ONE_WRONG ? 1 : 0;
  if (allowed === 0 || /\p{N}/u.test(a) || /\p{N}/u.test(b)) return 0;
  const wrong = editDistance(a, b, allowed);
  return wrong > allowed ? 0 : 1 - wrong / Math.max(a.length, b.length);
}

/** Maximum number of words per name that are checked for misspellings, the rarest first. */
const MOST_LOOKED_AT = 4;

/** The cosine of two rows of words, in which misspelt words count by their share of correct letters. */
export function cosineWithSlips({ terms, left, right }: Space, a: number, b: number): number {
  const exact = cosine(left, a, right, b);
  if (exact === 1) return 1;
  const own = onlyIn(left, a, right, b);
  const others = onlyIn(right, b, left, a);
  // most similar first, symmetric in both rows
  const found = own
    .flatMap((at) => others.map((other) => slipOf(terms, left, at, right, other)))
    .filter(({ share }) => share > 0)
    .sort((x, y) => y.share - x.share || y.weight - x.weight || x.low - y.low || x.high - y.high);
  const taken = new Set<number>();
  let sum = exact;
  for (const { share, weight, low, high } of found) {
    if (taken.has(low) || taken.has(high)) continue;
    taken.add(low).add(high);
    sum += share * weight;
  }
  return Math.min(1, sum);
}

function slipOf(terms: readonly string[], left: Vectors, at: number, right: Vectors, other: number) {
  const [one, two] = [left.terms[at]!, right.terms[other]!];
  return {
    share: misspelling(terms[one]!, terms[two]!),
    weight: left.weights[at]! * right.weights[other]!,
    low: Math.min(one, two),
    high: Math.max(one, two),
  };
}

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
