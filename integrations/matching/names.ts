import { withAcronyms } from './acronyms.ts';
import { inEnglish } from './glossary.ts';
import { jointWriter } from './joints.ts';
import { withoutLegalForm } from './legal-forms.ts';
import type { Dictionary } from './matching.types.ts';
import { fold } from './normalise.ts';
import { written, writtenInAddress } from './spellings.ts';
import { wordsIn } from './tokens.ts';
import { withVariantsWritten } from './variants.ts';

/** Letters that must be left of a name without its vendor. */
const LEAST_LEFT = 5;

/** `Copy of …` and `… (copy)`: marks that somebody made the thing twice. */
const COPIED = {
  before: /^(?:copy|duplicate|kopie|duplikat|copie|copia|kopia)\s+(?:of|von|de|di|van|af|av)\s+(?=\S)/,
  after: /(?<=\S)\s*(?:[([]|\s[-–])\s*(?:copy|duplicate|kopie|duplikat|copie|doublon|copia|kopia)\b[^)\]]*[)\]]?$/,
};
/** `host.corp.example.com` and `example.com` without what says where on the net they are. */
const DOMAIN = /(?<![\p{L}\p{N}@])(\p{L}[\p{L}\p{N}_-]*)(?:\.\p{L}[\p{L}\p{N}-]*)*\.(?:com|net|org|io|local|intern|internal|lan)(?![\p{L}\p{N}])/gu;

/** The words of a name before anything is known of the list: no legal form, abbreviations written out, in English. */
export const plainNameWords = (text: string): string[] => inPlain(wordsIn(withoutLegalForm(fold(text))));

const inPlain = (words: readonly string[]): string[] => words.flatMap((word) => inEnglish(written(word)));

/** The words of a name as they are written, but for what says nothing, and with variants in one writing. */
export function rawNameWords(text: string): string[] {
  const folded = fold(process.env.NV ? text : withVariantsWritten(text));
  return wordsIn(withoutLegalForm(process.env.NC ? folded : folded.replace(COPIED.before, '').replace(COPIED.after, '').replace(DOMAIN, '$1')));
}

/** Reads names as the dictionary of a list has it. */
export function nameReader({ joints, acronyms }: Pick<Dictionary, 'joints' | 'acronyms'>) {
  const join = jointWriter(joints);
  const phrases = new Map(Object.entries(acronyms).map(([acronym, phrase]) => [acronym, phrase.split(' ')]));
  return (text: string): readonly string[] => withAcronyms(inPlain(join(rawNameWords(text))), phrases);
}

/** The words of a street address, its abbreviations written out. */
export const addressWords = (text: string): string[] => wordsIn(fold(text)).map(writtenInAddress);

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
