import vocabulary from './vocabulary.json' with { type: 'json' };
import { isDistinctive, listed } from './vocabulary.ts';

/** Minimum number of different words in one position of otherwise equal names for a series. */
const LEAST_IN_ROW = 3;
/** Minimum number of series of a distinguishing word. */
const LEAST_ROWS = 2;
/** Maximum words of a name. */
const MOST_WORDS = 12;
/** Words for forms of objects: names that only differ in these can denote the same object. */
const FORMS = new Set(listed(vocabulary.productForms));

/**
 * Finds words that vary in series of names, such as sites and departments: in at least two series of otherwise equal names, each
 * with at least two other words. Repeated differences are intentional.
 */
export function seriesIn(names: Iterable<readonly string[]>): string[] {
  const rows = new Map<string, Set<string>>();
  for (const name of names) {
    const words = [...new Set(name)].slice(0, MOST_WORDS);
    if (words.length < 2) continue;
    for (const word of words) {
      if (!isDistinctive(word) || FORMS.has(word) || !/\p{L}{2}/u.test(word)) continue;
      const frame = words
        .filter((other) => other !== word)
        .sort()
        .join(' ');
      const row = rows.get(frame);
      if (row) row.add(word);
      else rows.set(frame, new Set([word]));
    }
  }
  const counts = new Map<string, number>();
  for (const row of rows.values())
    if (row.size >= LEAST_IN_ROW) for (const word of row) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts.keys()].filter((word) => counts.get(word)! >= LEAST_ROWS).sort();
}

/**
 * 0 if two names only differ in series words, each with one that the other does not have; else NaN (no evidence).
 */
export function seriesSimilarity(
  a: readonly string[],
  b: readonly string[],
  series: ReadonlySet<string>,
): number {
  const left = a.filter((word) => !b.includes(word));
  const right = b.filter((word) => !a.includes(word));
  if (left.length === 0 || right.length === 0 || left.length === a.length) return Number.NaN;
  return [...left, ...right].every((word) => series.has(word)) ? 0 : Number.NaN;
}
