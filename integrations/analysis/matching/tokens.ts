import { fold } from '../../../platform/fold.ts';
import { lettersAndDigits } from './normalise.ts';
import { unitOf } from './vocabulary.ts';

/** Maximum tokens of a text. */
const MOST_TOKENS = 400;
/** Maximum letters of a token. */
const LONGEST_TOKEN = 64;

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** A sequence of letters and digits with single separators: `dsc-w120/b`. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:[-_./+#][\p{L}\p{M}\p{N}]+)*/gu;
const NUMBER = /^\p{N}+(?:[.,]\p{N}+)?$/u;
const MEASURE = /^(\p{N}+)(\p{L}+)$/u;

/**
 * The words and numbers of a text in order: a number and its unit are one token (`120gb`), scripts without spaces are split
 * into bigrams.
 */
export const wordsOf = (text: string): string[] => wordsIn(fold(text));

/** Like wordsOf, for a folded text. */
export function wordsIn(folded: string): string[] {
  const words: string[] = [];
  const found = folded.replace(/(?<=\p{N})[.,](?=\p{N})/gu, '·').match(/[\p{L}\p{M}\p{N}·]+/gu) ?? [];
  for (let at = 0; at < found.length && words.length < MOST_TOKENS; at++) {
    const word = found[at]!.slice(0, LONGEST_TOKEN);
    const unit = NUMBER.test(word.replace('·', '.')) ? unitOf(found[at + 1] ?? '') : undefined;
    const measure = MEASURE.exec(word);
    if (unit) {
      words.push(`${word}${unit}`);
      at++;
    } else if (measure) words.push(`${measure[1]}${unitOf(measure[2]!) ?? measure[2]}`);
    else if (UNSPACED.test(word)) words.push(...pairsOf(word));
    else words.push(word);
  }
  return words;
}

/** Bigrams of a text without spaces. */
function pairsOf(word: string): string[] {
  const letters = [...word];
  return letters.length < 2 ? [word] : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** The codes of a text (such as model and part numbers) in order, without punctuation; see isCode. */
export function codesOf(text: string): string[] {
  const codes: string[] = [];
  for (const [run] of fold(text).matchAll(RUN)) {
    if (codes.length >= MOST_TOKENS) break;
    const code = lettersAndDigits(run);
    if (isCode(code)) codes.push(code.slice(0, LONGEST_TOKEN));
  }
  return codes;
}

/** Ends the beginning of a code in {@link withStems}. */
export const STEM_MARK = '~';
/** The beginning of a code whose last letters may name a colour, a region or a package: `txsr506` of `txsr506` and `txsr506b`. */
const STEM = /^(\p{L}+\p{N}{2,})\p{L}{0,4}$/u;

/** The codes, each followed by its beginning. */
export const withStems = (codes: readonly string[]): string[] =>
  codes.flatMap((code) => {
    const stem = STEM.exec(code)?.[1];
    return stem === undefined ? [code] : [code, `${stem}${STEM_MARK}`];
  });

/**
 * Whether a sequence of letters and digits is an identifier: at least four characters with letters and digits, but not a number
 * with a unit; or a number of at least five digits.
 */
function isCode(run: string): boolean {
  if (run.length < 4 || !/\p{N}/u.test(run)) return false;
  if (/^\p{N}+$/u.test(run)) return run.length >= 5;
  const measure = MEASURE.exec(run);
  return !(measure && unitOf(measure[2]!));
}

/** Character n-grams of a word, including markers for its beginning and end. */
export function piecesOf(word: string, size: number): string[] {
  const marked = `^${word}$`;
  if (marked.length <= size) return [marked];
  return Array.from({ length: marked.length - size + 1 }, (_, at) => marked.slice(at, at + size));
}
