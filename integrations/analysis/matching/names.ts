import { fold } from '../../../platform/fold.ts';
import { withAcronyms } from './acronyms.ts';
import { jointWriter } from './joints.ts';
import { withoutLegalForm } from './legal-forms.ts';
import type { Dictionary } from './matching.types.ts';
import { memoized } from './normalise.ts';
import { wordsIn } from './tokens.ts';
import { withVariantsWritten } from './variants.ts';
import vocabulary from './vocabulary.json' with { type: 'json' };
import { expanded, expandedInAddress, keyByWord } from './vocabulary.ts';

/** Minimum letters of a name after its vendor is removed. */
const LEAST_LEFT = 5;

/** `Copy of …` and `… (copy)`. */
const COPIED = {
  before: /^(?:copy|duplicate|kopie|duplikat|copie|copia|kopia)\s+(?:of|von|de|di|van|af|av)\s+(?=\S)/,
  after:
    /(?<=\S)\s*(?:[([]|\s[-–])\s*(?:copy|duplicate|kopie|duplikat|copie|doublon|copia|kopia)\b[^)\]]*[)\]]?$/,
};
/** Domain suffixes of `host.corp.example.com` and `example.com`. */
const DOMAIN =
  /(?<![\p{L}\p{N}@])(\p{L}[\p{L}\p{N}_-]*)(?:(?:\.\p{L}[\p{L}\p{N}-]*){0,5}\.(?:com|org|io|local|intern|internal|lan)|(?:\.\p{L}[\p{L}\p{N}-]*){1,5}\.net)(?![\p{L}\p{N}])/giu;

/** Reduces domain names in a text to their first label. */
export const withoutDomains = (text: string): string =>
  text.includes('.') ? text.replace(DOMAIN, '$1') : text;

/** The normalised words of a name, independent of the list: without legal form, abbreviations expanded, in English. */
export const plainNameWords = (text: string): string[] => plainWords(wordsIn(withoutLegalForm(fold(text))));

/** Normalised words by word; memoized, since names share words. */
const inPlainWords = memoized((word): readonly string[] => {
  const meant = inEnglish(expanded(word));
  if (meant.length > 1 || meant[0] !== word) return meant;
  const folded = withUmlauts(word);
  const known = inEnglish(folded);
  return known.length > 1 || known[0] !== folded ? known : meant;
}, 50_000);

/** Words with abbreviations expanded, in English. */
export const plainWords = (words: readonly string[]): string[] => words.flatMap(inPlainWords);

/** `mueller` as `muller`, like a folded umlaut; also if it is not one. */
const withUmlauts = (word: string): string =>
  /[aou]e/.test(word) ? word.replace(/(?<=^|[b-df-hj-np-tv-z])([aou])e(?=[a-z])/g, '$1') : word;

/** The words of a name without fillers and with normalised variants. */
export function rawNameWords(text: string): string[] {
  const folded = fold(withVariantsWritten(text));
  return wordsIn(
    withoutLegalForm(withoutDomains(folded.replace(COPIED.before, '').replace(COPIED.after, ''))),
  );
}

/** Words whose umlauts the list writes both as one and as two letters. */
export function umlautsIn(names: readonly (readonly string[])[]): string[] {
  const words = new Set(names.flat());
  return [...words].filter((word) => withUmlauts(word) !== word && words.has(withUmlauts(word))).sort();
}

type Words = Pick<Dictionary, 'joints' | 'acronyms' | 'umlauts'>;

/** Returns a function that normalises names by a list's dictionary. */
export function nameReader(dictionary: Words): (text: string) => readonly string[] {
  const read = wordReader(dictionary);
  return (text) => read(withRepeated(rawNameWords(text)));
}

/** Words with a repeated one as a word of its own: `Order Order Desk` is not `Order Desk`. */
const withRepeated = (words: readonly string[]): readonly string[] =>
  words.map((word, at) =>
    at > 0 && word === words[at - 1] && /\p{L}{2}/u.test(word) ? `${word}twice` : word,
  );

/** Like {@link nameReader}, for the words of rawNameWords. */
export function wordReader({
  joints,
  acronyms,
  umlauts,
}: Words): (raw: readonly string[]) => readonly string[] {
  const join = jointWriter(joints);
  const phrases = new Map(Object.entries(acronyms).map(([acronym, phrase]) => [acronym, phrase.split(' ')]));
  const folded = new Map(umlauts.map((word) => [word, withUmlauts(word)]));
  const unfold = (words: readonly string[]) =>
    folded.size === 0 ? words : words.map((word) => folded.get(word) ?? word);
  return (raw) => withAcronyms(plainWords(unfold(join(raw))), phrases);
}

/** The words of a street address with expanded abbreviations. */
export const addressWords = (text: string): string[] => wordsIn(fold(text)).map(expandedInAddress);

/** Removes leading vendor words of a name, unless too little remains. */
export function withoutLeading(
  words: readonly string[],
  isLeading: (word: string, at: number) => boolean,
): readonly string[] {
  let from = 0;
  while (from < words.length && isLeading(words[from]!, from)) from++;
  const left = words.slice(from);
  return left.reduce((letters, word) => letters + word.length, 0) >= LEAST_LEFT ? left : words;
}

/** English words by words of other languages, without ambiguous ones. */
const ENGLISH = keyByWord(vocabulary.translations);
const KNOWN = new Set([...ENGLISH.keys(), ...Object.keys(vocabulary.translations)]);
const JOINTS = ['', 's', 'n', 'en', 'e'];
/** Minimum letters of a part of a compound. */
const SHORTEST = 4;

/** Plural endings. */
const PLURALS = ['s', 'es', 'n', 'en'];

/**
 * Translates a folded word to English; unknown words are returned unchanged. Compounds of known words, such as
 * `lagerverwaltung` and `kundenportalsystem`, are split.
 */
function inEnglish(word: string): string[] {
  const known = knownAs(word) ?? singular(word);
  if (known) return [known];
  return (word.length >= 2 * SHORTEST && inParts(word, MOST_PARTS)) || [word];
}

/** Maximum number of parts of a compound. */
const MOST_PARTS = 3;

const knownAs = (word: string): string | undefined =>
  ENGLISH.get(word) ?? (KNOWN.has(word) ? word : undefined);

/** The singular of a word; English words are not changed. */
function singular(word: string): string | undefined {
  for (const ending of PLURALS)
    if (word.endsWith(ending)) {
      const one = ENGLISH.get(word.slice(0, -ending.length));
      if (one) return one;
    }
  return undefined;
}

function inParts(word: string, most: number): string[] | undefined {
  for (let at = word.length - SHORTEST; at >= SHORTEST; at--) {
    const last = knownAs(word.slice(at));
    if (!last) continue;
    for (const joint of JOINTS) {
      const before = word.slice(0, at);
      if (!before.endsWith(joint)) continue;
      const first = before.slice(0, at - joint.length);
      const parts = knownAs(first) ?? (most > 2 ? inParts(first, most - 1) : undefined);
      if (parts) return [parts, last].flat();
    }
  }
  return undefined;
}
