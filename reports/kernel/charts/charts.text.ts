import { lazily } from './charts.lazily.ts';
import type { InLanguage } from './charts.texts.ts';
import { textWidth } from './charts.widths.ts';

// characters that XML does not allow, and control characters of the text direction
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]+/gu;

/** Cleans a user's text for a chart: one line without invalid characters. */
export const plain = (text: string): string => text.toWellFormed().replace(UNFIT, ' ').trim();

const segmenter = lazily(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** Truncates a text to a width in pixels, with an ellipsis. */
export function shorten(text: string, width: number, size: number, weight = 400): string {
  if (textWidth(text, size, weight) <= width) return text;
  let result = '';
  for (const { segment } of segmenter().segment(text)) {
    if (textWidth(`${result}${segment}…`, size, weight) > width) break;
    result += segment;
  }
  return `${result.trimEnd()}…`;
}

/** Consonants that begin a syllable before a vowel; those that are one sound stay together. */
const SYLLABLE = /(?:sch|ch|ck|ph|th|qu|[bcdfghjklmnpqrstvwxzß])(?=[aeiouyäöü])/giu;
/** Minimum number of letters on both sides of a hyphen. */
const LETTERS = 3;

/** The longest beginning of a German word that fits with a hyphen, with its length in the word. */
function hyphenated(word: string, width: number, size: number, weight: number): [string, number] | undefined {
  const places = [
    ...[...word.matchAll(/(?<=\p{L})[-/](?=\p{L})/gu)].map(({ index }) => [index + 1, ''] as const),
    ...[...word.matchAll(SYLLABLE)].map(({ index }) => [index, '-'] as const),
  ]
    .filter(([at]) => at >= LETTERS && at <= word.length - LETTERS && /[aeiouyäöü]/iu.test(word.slice(0, at)))
    .sort(([a], [b]) => b - a);
  for (const [at, hyphen] of places) {
    const part = word.slice(0, at) + hyphen;
    if (textWidth(part, size, weight) <= width) return [part, at];
  }
  return undefined;
}

/**
 * Wraps a text at spaces, in German also within a word that has no room, into at most `most` lines; the last is truncated if
 * necessary.
 */
export function wrap(
  text: string,
  width: number,
  size: number,
  most: number,
  weight = 400,
  { language }: InLanguage = {},
): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < most - 1 && textWidth(rest, size, weight) > width) {
    let cut = -1;
    for (let at = rest.indexOf(' '); at > 0; at = rest.indexOf(' ', at + 1)) {
      if (textWidth(rest.slice(0, at), size, weight) > width) break;
      cut = at;
    }
    if (cut < 0 && language === 'de') {
      const [part, length] = hyphenated(rest.split(' ', 1)[0]!, width, size, weight) ?? [];
      if (part === undefined) break;
      lines.push(part);
      rest = rest.slice(length);
      continue;
    }
    if (cut < 0) break;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut + 1).trimStart();
  }
  return [...lines, shorten(rest, width, size, weight)];
}
