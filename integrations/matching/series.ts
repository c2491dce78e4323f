import vocabulary from './vocabulary.json' with { type: 'json' };
import { isDistinctive, listed } from './vocabulary.ts';

/** Different words that must stand in one place of otherwise equal names to be a row of things of a kind. */
const LEAST_IN_ROW = 3;
/** Rows in which a word must stand to be taken for one that tells things apart. */
const LEAST_ROWS = 2;
/** Words of a name that are looked at. */
const MOST_WORDS = 12;
/** Forms in which things come: names that differ in these alone may well mean the same. */
const FORMS = new Set(listed(vocabulary.productForms));

/**
 * Words that take each other's place in rows of names, as sites and departments do: those that stand, in at least two places of
 * names that are equal otherwise, beside at least two others. Differences that a list makes again and again are meant.
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
 * 0 when two names differ in words of series alone, each naming one that the other does not; else NaN, as it says nothing.
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
