import { withoutLegalForm } from '../matching/legal-forms.ts';
import { plainNameWords } from '../matching/names.ts';
import { fold } from '../matching/normalise.ts';
import { regionNamed, regionOfCode } from '../matching/regions.ts';
import { slips } from '../matching/slips.ts';
import { wordsIn } from '../matching/tokens.ts';

/** Words that companies put behind their names; they do not distinguish two companies. */
const GENERIC = new Set(
  'software system technology solution solutions consulting service services digital global international worldwide online web labs lab studio it ict informatics informatik computing computer data products networks partners enterprise enterprises industries'.split(
    ' ',
  ),
);
/** What is left of legal forms that are joined by them, and articles before names. */
const FILLERS = new Set(['and', 'und', 'et', 'e', 'y', 'the', 'die', 'der', 'das', 'le', 'la', 'de', 'by']);

/** A supplier's name as it is compared. */
export interface Spelling {
  /** As it is written, white space single. */
  name: string;
  /** Letters and digits alone, without legal form, accents and case, abbreviations written out. */
  key: string;
  words: readonly string[];
  /** The words without those of {@link GENERIC} at the end, where something is left. */
  core: readonly string[];
  /** The key without the region at its end, and the region; null where it names none. */
  region: { key: string; name: string } | null;
}

/** Longest name that is kept; what stands behind says nothing more of whom it names. */
const LONGEST_NAME = 200;
/** Control and direction marks would change how other texts are shown. */
const UNSHOWN = /[\p{C}\s]+/gu;

/** A name as it may be shown. */
export const shownName = (text: string): string =>
  text
    .slice(0, 4 * LONGEST_NAME)
    .toWellFormed()
    .replace(UNSHOWN, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .trim();

/** Takes a name apart; null where it holds no letter or digit. */
export function spellingOf(text: string): Spelling | null {
  const name = shownName(text);
  const words = trimmed(plainNameWords(bare(name)));
  const key = words.join('');
  if (!/[\p{L}\p{N}]/u.test(key)) return null;
  return { name, key, words, core: coreOf(words), region: regionAtEnd(name) };
}

/** Without its legal form, also one of two parts: `SE & Co. KG`. */
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
  while (end > 1 && (GENERIC.has(words[end - 1]!) || FILLERS.has(words[end - 1]!))) end--;
  return words.slice(0, end);
}

/** Words of a region that are looked for at the end of a name. */
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

/** How many of the last words belong to the legal form. */
function legalWords(raw: readonly string[]): number {
  const kept = bare(raw.join(' ')).match(/[\p{L}\p{M}\p{N}]+/gu)?.length ?? 0;
  return Math.max(0, raw.length - kept);
}

/** The initials of a name of three words or more, as they are written and as they are in English; none of a shorter one. */
export function initialsOf({ name, words }: Spelling): Set<string> {
  const initials = [trimmed(wordsIn(bare(name))), words].map((all) => {
    const counted = all.filter((word) => !FILLERS.has(word) && word !== 'of');
    return counted.length < 3 ? '' : counted.map((word) => word[0]).join('');
  });
  return new Set(initials.filter((text) => text !== ''));
}

/** Letters of the shortest word in which one letter, and two letters, may be wrong. */
const [ONE_WRONG, TWO_WRONG] = [6, 10];

/**
 * Whether two names differ by slips of the hand alone: the same first letter, the same digits, and one letter too many, too few,
 * wrong or swapped in six letters, two in ten.
 */
export function isSlip(a: Spelling, b: Spelling): boolean {
  const shorter = Math.min(a.key.length, b.key.length);
  const allowed = shorter >= TWO_WRONG ? 2 : shorter >= ONE_WRONG ? 1 : 0;
  if (allowed === 0 || a.key[0] !== b.key[0]) return false;
  if (a.key.replace(/\P{N}/gu, '') !== b.key.replace(/\P{N}/gu, '')) return false;
  return slips(a.key, b.key, allowed) <= allowed;
}

/** Whether one name is the other with general words behind it: `Atlassian Software` and `Atlassian`. */
export function isExtended(a: Spelling, b: Spelling): boolean {
  const [short, long] = a.words.length <= b.words.length ? [a, b] : [b, a];
  return (
    short.words.length < long.words.length &&
    short.key.length >= 4 &&
    long.core.join(' ') === short.words.join(' ')
  );
}
