import { misspelling } from './misspellings.ts';
import { regionOfCode } from './regions.ts';
import { isFiller } from './vocabulary.ts';

/** Length of an abbreviation by initials; those of two letters require names that are otherwise equal. */
const [SHORTEST, LONGEST] = [2, 6];
/** Minimum letters of an abbreviation that is expanded in any name. */
const SURE = 3;

/** The first words of a name, as written. */
const writtenWords = (text: string): string[] => text.slice(0, 200).match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Finds abbreviations by initials: words of two to six capital letters in names that are not all in capitals, unless a name
 * has them as a common word, or they are a country code.
 */
export function acronymsIn(names: Iterable<string>): string[] {
  const capitals = new Set<string>();
  const common = new Set<string>();
  for (const name of names) {
    const words = writtenWords(name);
    const isShouted = words.length > 1 && words.every((word) => word === word.toUpperCase());
    for (const word of words) {
      if (word.length < SHORTEST || word.length > LONGEST || isShouted || regionOfCode(word)) continue;
      if (/^\p{Lu}+$/u.test(word)) capitals.add(word.toLowerCase());
      else common.add(word.toLowerCase());
    }
  }
  return [...capitals].filter((word) => !common.has(word)).sort();
}

/**
 * The expansion of each abbreviation, as words separated by spaces: if exactly one phrase in the list has these initials and is
 * at least half of a name. Ambiguous abbreviations are not expanded.
 * @param names the words of each name.
 */
export function writtenOut(
  acronyms: readonly string[],
  names: readonly (readonly string[])[],
): Record<string, string> {
  const known = new Set(acronyms);
  const frames = new Set(names.map((words) => words.join(' ')));
  const found = new Map<string, Map<string, number>>();
  for (const words of names) {
    if (words.length > 2 * LONGEST) continue;
    for (const { acronym, from, end } of runsIn(words, known)) {
      if (2 * (end - from) < words.length) continue;
      const framed = [...words.slice(0, from), acronym, ...words.slice(end)].join(' ');
      if (acronym.length < SURE && !frames.has(framed)) continue;
      const phrases = found.get(acronym) ?? new Map<string, number>();
      const phrase = telling(words.slice(from, end)).join(' ');
      found.set(acronym, phrases.set(phrase, (phrases.get(phrase) ?? 0) + 1));
    }
  }
  const settled: Record<string, string> = {};
  for (const acronym of acronyms) {
    const phrases = [...(found.get(acronym) ?? [])].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const [first, ...others] = phrases.map(([phrase]) => phrase);
    if (first !== undefined && others.every((other) => isSame(other.split(' '), first.split(' '))))
      settled[acronym] = first;
  }
  return settled;
}

const telling = (words: readonly string[]): string[] => words.filter((word) => !isFiller(word));

const isSame = (words: readonly string[], others: readonly string[]): boolean =>
  words.length === others.length &&
  words.every((word, at) => word === others[at] || misspelling(word, others[at]!) > 0);

/** Replaces the words of an abbreviation by one token, if they are at least half of the name. */
export function withAcronyms(
  words: readonly string[],
  acronyms: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  if (acronyms.size === 0 || words.length < SHORTEST || words.length > 2 * LONGEST) return words;
  for (const { acronym, from, end } of runsIn(words, acronyms)) {
    if (2 * (end - from) < words.length) continue;
    if (isSame(telling(words.slice(from, end)), acronyms.get(acronym)!))
      return [...words.slice(0, from), acronym, ...words.slice(end)];
  }
  return words;
}

/** Sequences of words whose initials are an abbreviation, the longest per first word. Two-letter words count completely: `ITSM`. */
function* runsIn(words: readonly string[], acronyms: Pick<ReadonlySet<string>, 'has'>) {
  for (const from of words.keys()) {
    if (isFiller(words[from]!)) continue;
    let initials = '';
    let found: { acronym: string; from: number; end: number } | undefined;
    for (let at = from; at < words.length && initials.length < LONGEST; at++) {
      const word = words[at]!;
      if (isFiller(word)) continue;
      if (word.length < 2 || !/^\p{L}/u.test(word)) break;
      initials += word.length === 2 ? word : word[0];
      if (at > from && acronyms.has(initials)) found = { acronym: initials, from, end: at + 1 };
    }
    if (found) yield found;
  }
}
