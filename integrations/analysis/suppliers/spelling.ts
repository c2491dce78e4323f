import { fold } from '../../../platform/fold.ts';
import { withoutLegalForm } from '../matching/legal-forms.ts';
import { editDistance } from '../matching/misspellings.ts';
import { plainNameWords } from '../matching/names.ts';
import { regionNamed, regionOfCode } from '../matching/regions.ts';
import { wordsIn } from '../matching/tokens.ts';

/** Generic words at the end of company names; they do not distinguish companies. */
const GENERIC = new Set(
  'software system technology solution solutions consulting service services digital global international worldwide online web labs lab studio it ict informatics informatik computing computer data products networks partners enterprise enterprises industries'.split(
    ' ',
  ),
);
/** Remains of compound legal forms, and articles before names. */
const FILLERS = new Set(['and', 'und', 'et', 'e', 'y', 'the', 'die', 'der', 'das', 'le', 'la', 'de', 'by']);

/** Whether a word does not distinguish companies. */
export const isGeneric = (word: string): boolean => GENERIC.has(word) || FILLERS.has(word);

/** A normalised supplier name. */
export interface Spelling {
  /** As written, with single blanks. */
  name: string;
  /** Letters and digits alone, without legal form, accents and case, abbreviations written out. */
  key: string;
  words: readonly string[];
  /** The words without {@link GENERIC} ones at the end, unless nothing remains. */
  core: readonly string[];
  /** The key without the region at its end, and the region; null without a region. */
  region: { key: string; name: string } | null;
}

/** Maximum length of a name; the rest is ignored. */
const LONGEST_NAME = 200;
/** Control characters and direction marks, which would affect the display of other texts. */
const UNSHOWN = /[\p{C}\s]+/gu;

/** Cleans a name for display. */
export const shownName = (text: string): string =>
  text
    .slice(0, 4 * LONGEST_NAME)
    .toWellFormed()
    .replace(UNSHOWN, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .trim();

/** Normalises a name; null if it has no letter or digit. */
export function spellingOf(text: string): Spelling | null {
  const name = shownName(text);
  const words = trimmed(plainNameWords(bare(name)));
  const key = words.join('');
  if (!/[\p{L}\p{N}]/u.test(key)) return null;
  return { name, key, words, core: coreOf(words), region: regionAtEnd(name) };
}

/** Removes the legal form, including compound ones: `SE & Co. KG`. */
function bare(name: string): string {
  let text = fold(name);
  for (;;) {
    const shorter = withoutLegalForm(text)
      .replace(/[\s,]+(?:and|und)$/, '')
      .trim();
    if (shorter === text || !/[\p{L}\p{N}]{2}/u.test(shorter)) return text;
    text = shorter;
  }
}

function trimmed(words: readonly string[]): readonly string[] {
  const from = words.length > 1 && FILLERS.has(words[0]!) ? 1 : 0;
  return words.slice(from);
}

function coreOf(words: readonly string[]): readonly string[] {
  let end = words.length;
  while (end > 1 && isGeneric(words[end - 1]!)) end--;
  return words.slice(0, end);
}

/** Maximum words of a region at the end of a name. */
const MOST_REGION_WORDS = 3;

function regionAtEnd(name: string): Spelling['region'] {
  const raw = name.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const end = raw.length - legalWords(raw);
  for (let length = Math.min(MOST_REGION_WORDS, end - 1); length > 0; length--) {
    const words = raw.slice(end - length, end);
    const region = regionNamed(fold(words.join(' '))) ?? (length === 1 ? regionOfCode(words[0]!) : undefined);
    if (!region) continue;
    const rest = trimmed(plainNameWords(bare(raw.slice(0, end - length).join(' ')))).join('');
    if (rest.length > 1) return { key: rest, name: words.join(' ') };
  }
  return null;
}

/** Number of words of the legal form at the end. */
function legalWords(raw: readonly string[]): number {
  const remaining = bare(raw.join(' ')).match(/[\p{L}\p{M}\p{N}]+/gu)?.length ?? 0;
  return Math.max(0, raw.length - remaining);
}

/** The initials of a name of three words or more, as written and translated to English; empty for shorter names. */
export function initialsOf({ name, words }: Spelling): Set<string> {
  const initials = [trimmed(wordsIn(bare(name))), words].map((all) => {
    const counted = all.filter((word) => !FILLERS.has(word) && word !== 'of');
    return counted.length < 3 ? '' : counted.map((word) => word[0]).join('');
  });
  return new Set(initials.filter((text) => text !== ''));
}

/** Minimum word lengths for one and two wrong letters. */
const [ONE_WRONG, TWO_WRONG] = [6, 10];

/**
 * Whether two names only differ by misspellings: the same first letter and digits, and one added, missing, wrong or swapped
 * letter from six letters on, two from ten on.
 */
export function isMisspelling(a: Spelling, b: Spelling): boolean {
  const shorter = Math.min(a.key.length, b.key.length);
  const allowed = shorter >= TWO_WRONG ? 2 : shorter >= ONE_WRONG ? 1 : 0;
  if (allowed === 0 || a.key[0] !== b.key[0]) return false;
  if (a.key.replace(/\P{N}/gu, '') !== b.key.replace(/\P{N}/gu, '')) return false;
  return editDistance(a.key, b.key, allowed) <= allowed;
}

/** Whether one name is the other followed by generic words: `Atlassian Software` and `Atlassian`. */
export function isExtended(a: Spelling, b: Spelling): boolean {
  const [short, long] = a.words.length <= b.words.length ? [a, b] : [b, a];
  return (
    short.words.length < long.words.length &&
    short.key.length >= 4 &&
    long.core.join(' ') === short.words.join(' ')
  );
}
