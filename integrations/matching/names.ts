import { inEnglish } from './glossary.ts';
import { withoutLegalForm } from './legal-forms.ts';
import { fold } from './normalise.ts';
import { written, writtenInAddress } from './spellings.ts';
import { wordsIn } from './tokens.ts';

/** Words of names that say nothing, and have no letter in an abbreviation by initials. */
const FILLERS = new Set(
  'a an and the of for in on to by de la le les du des et der die das und fur von el los y e di del il van het een en'.split(
    ' ',
  ),
);
/** Letters of an abbreviation by initials. */
const [SHORTEST, LONGEST] = [3, 6];
/** Letters that must be left of a name without its vendor. */
const LEAST_LEFT = 5;

/** The words of a name before anything is known of the list: no legal form, abbreviations written out, in English. */
export const plainNameWords = (text: string): string[] =>
  wordsIn(withoutLegalForm(fold(text))).flatMap((word) => inEnglish(written(word)));

/** The words of a street address, its abbreviations written out. */
export const addressWords = (text: string): string[] => wordsIn(fold(text)).map(writtenInAddress);

/** Words of a name as they are written, the first ones. */
const writtenWords = (text: string): string[] => text.slice(0, 200).match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * The abbreviations that names use for initials: words of three to six capital letters in names that are not all in capitals,
 * unless some name writes them as a common word.
 */
export function acronymsIn(names: Iterable<string>): string[] {
  const capitals = new Set<string>();
  const common = new Set<string>();
  for (const name of names) {
    const words = writtenWords(name);
    const isShouted = words.length > 1 && words.every((word) => word === word.toUpperCase());
    for (const word of words) {
      if (word.length < SHORTEST || word.length > LONGEST || isShouted) continue;
      if (/^\p{Lu}+$/u.test(word)) capitals.add(word.toLowerCase());
      else common.add(word.toLowerCase());
    }
  }
  return [...capitals].filter((word) => !common.has(word)).sort();
}

/**
 * The words with those in a row whose initials are one of the `acronyms` put together, where they are at least half of the
 * name: `enterprise resource planning` is `erp`. In longer names chance alone would find some.
 */
export function withAcronyms(words: readonly string[], acronyms: ReadonlySet<string>): readonly string[] {
  if (acronyms.size === 0 || words.length < SHORTEST || words.length > 2 * LONGEST) return words;
  for (const from of words.keys()) {
    const run = acronymAt(words, from, acronyms);
    if (run && 2 * (run.end - from) >= words.length)
      return [...words.slice(0, from), run.acronym, ...words.slice(run.end)];
  }
  return words;
}

function acronymAt(words: readonly string[], from: number, acronyms: ReadonlySet<string>) {
  let initials = '';
  let found: { acronym: string; end: number } | undefined;
  for (let at = from; at < words.length && initials.length < LONGEST; at++) {
    if (FILLERS.has(words[at]!) && at > from) continue;
    if (words[at]!.length < 2 || !/^\p{L}/u.test(words[at]!)) break;
    initials += words[at]![0];
    if (initials.length >= SHORTEST && acronyms.has(initials)) found = { acronym: initials, end: at + 1 };
  }
  return found;
}

/** The words of a name without those at its beginning that say who made the thing, unless too little is left. */
export function withoutLeading(
  words: readonly string[],
  isLeading: (word: string) => boolean,
): readonly string[] {
  let from = 0;
  while (from < words.length && isLeading(words[from]!)) from++;
  const left = words.slice(from);
  return left.reduce((letters, word) => letters + word.length, 0) >= LEAST_LEFT ? left : words;
}
