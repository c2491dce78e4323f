import { fold, squeeze } from './normalise.ts';
import { unitOf } from './vocabulary.ts';

/** Tokens of a text that are kept at most. */
const MOST_TOKENS = 400;
/** Letters of a token that are kept at most. */
const LONGEST_TOKEN = 64;

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** A run of letters and digits with single joints within: `dsc-w120/b`. */
const RUN = /[\p{L}\p{M}\p{N}]+(?:[-_./+#][\p{L}\p{M}\p{N}]+)*/gu;
const NUMBER = /^\p{N}+(?:[.,]\p{N}+)?$/u;
const MEASURE = /^(\p{N}+)(\p{L}+)$/u;

/**
 * The words and numbers of a text in their order: a number and its unit are one (`120gb`), scripts without spaces come in
 * pairs of letters.
 */
export const wordsOf = (text: string): string[] => wordsIn(fold(text));

/** As wordsOf, of a folded text. */
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

/** Neighbouring letters of a text that is written without spaces. */
function pairsOf(word: string): string[] {
  const letters = [...word];
  return letters.length < 2 ? [word] : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** The codes of a text in their order, without punctuation, as in model and part numbers: see isCode. */
export function codesOf(text: string): string[] {
  const codes: string[] = [];
  for (const [run] of fold(text).matchAll(RUN)) {
    if (codes.length >= MOST_TOKENS) break;
    const code = squeeze(run);
    if (isCode(code)) codes.push(code.slice(0, LONGEST_TOKEN));
  }
  return codes;
}

/**
 * Whether a run of letters and digits names one thing rather than describes it: at least four characters, letters and
 * digits mixed but not a number with its unit, or a number of five digits and more.
 */
function isCode(run: string): boolean {
  if (run.length < 4 || !/\p{N}/u.test(run)) return false;
  if (/^\p{N}+$/u.test(run)) return run.length >= 5;
  const measure = MEASURE.exec(run);
  return !(measure && unitOf(measure[2]!));
}

/** Pieces of `size` neighbouring characters of a word, with its beginning and end marked. */
export function piecesOf(word: string, size: number): string[] {
  const marked = `^${word}$`;
  if (marked.length <= size) return [marked];
  return Array.from({ length: marked.length - size + 1 }, (_, at) => marked.slice(at, at + size));
}
