import { textWidth } from './charts.widths.ts';

// characters that XML does not allow, and control characters of the text direction
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]+/gu;

/** Cleans a user's text for a chart: one line without invalid characters. */
export const plain = (text: string): string => text.toWellFormed().replace(UNFIT, ' ').trim();

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Truncates a text to a width in pixels, with an ellipsis. */
export function shorten(text: string, width: number, size: number, weight = 400): string {
  if (textWidth(text, size, weight) <= width) return text;
  let result = '';
  for (const { segment } of segmenter.segment(text)) {
    if (textWidth(`${result}${segment}…`, size, weight) > width) break;
    result += segment;
  }
  return `${result.trimEnd()}…`;
}

/** Wraps a text at spaces into at most `most` lines; the last is truncated if necessary. */
export function wrap(text: string, width: number, size: number, most: number, weight = 400): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < most - 1 && textWidth(rest, size, weight) > width) {
    let cut = -1;
    for (let at = rest.indexOf(' '); at > 0; at = rest.indexOf(' ', at + 1)) {
      if (textWidth(rest.slice(0, at), size, weight) > width) break;
      cut = at;
    }
    if (cut < 0) break;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut + 1).trimStart();
  }
  return [...lines, shorten(rest, width, size, weight)];
}
