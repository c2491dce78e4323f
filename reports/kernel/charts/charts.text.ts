import { createLru } from '../../../platform/lru.ts';
import type { ChartUnit, ChartWorkspace } from './charts.types.ts';

/** Character widths in thousandths of the font size, an upper bound for common sans-serif fonts. */
const NARROW = new Set("iljtfrI.,:;'|!()[]- /");
const WIDE = new Set('mwMW@%—');

/** Estimates the width of a text in pixels; an upper bound for common fonts. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const letter of text) {
    if (letter.codePointAt(0)! > 0x2e7f) width += 1.1;
    else if (NARROW.has(letter)) width += 0.4;
    else if (WIDE.has(letter)) width += 1;
    else if (letter >= 'A' && letter <= 'Z') width += 0.76;
    else width += 0.64;
  }
  return Math.ceil(width * size);
}

// characters that XML does not allow, and control characters of the text direction
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]+/gu;

/** Cleans a user's text for a chart: one line without invalid characters. */
export const plain = (text: string): string => text.toWellFormed().replace(UNFIT, ' ').trim();

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Truncates a text to a width in pixels, with an ellipsis. */
export function shorten(text: string, width: number, size: number): string {
  if (textWidth(text, size) <= width) return text;
  let result = '';
  for (const { segment } of segmenter.segment(text)) {
    if (textWidth(`${result}${segment}…`, size) > width) break;
    result += segment;
  }
  return `${result.trimEnd()}…`;
}

/** Wraps a text at spaces into at most `most` lines; the last is truncated if necessary. */
export function wrap(text: string, width: number, size: number, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < most - 1 && textWidth(rest, size) > width) {
    let cut = -1;
    for (let at = rest.indexOf(' '); at > 0; at = rest.indexOf(' ', at + 1)) {
      if (textWidth(rest.slice(0, at), size) > width) break;
      cut = at;
    }
    if (cut < 0) break;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut + 1).trimStart();
  }
  return [...lines, shorten(rest, width, size)];
}

/** Truncates labels to a width and records their complete texts. */
export class Labels {
  readonly shortened = new Map<string, string[]>();

  /** A user's text, truncated to one line. */
  fit(text: string, width: number, size: number): string {
    const whole = plain(text);
    const short = shorten(whole, width, size);
    if (short !== whole) this.remember(short, whole);
    return short;
  }

  /** Records the complete text of a label that was truncated to `short`. */
  remember(short: string, whole: string): void {
    const known = this.shortened.get(short);
    if (known) known.push(whole);
    else this.shortened.set(short, [whole]);
  }
}

/** Cached by unit and currency; a format takes about 20 KB. */
const formats = createLru<Intl.NumberFormat>(1024 * 1024, () => 20_000);

function numberFormat(unit: ChartUnit, currency: string, compact: boolean): Intl.NumberFormat {
  const key = `${unit} ${currency} ${compact}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat('en', {
      ...(compact ? { notation: 'compact', maximumFractionDigits: 1 } : { maximumFractionDigits: 2 }),
      ...(unit === 'currency' ? { style: 'currency', currency, minimumFractionDigits: 0 } : {}),
    });
    formats.set(key, format);
  }
  return format;
}

/** A number with its unit: money in the workspace's currency, large ones from 10,000 on as `12.3K`. */
export function formatValue(value: number, unit: ChartUnit, { currency }: ChartWorkspace): string {
  const compact = unit === 'currency' ? Math.abs(value) >= 1_000 : Math.abs(value) >= 10_000;
  const text = numberFormat(unit, currency, compact).format(value);
  return unit === 'percent' ? `${text} %` : text;
}

/** The name of an axis with its unit. */
export function axisTitle(name: string, unit: ChartUnit, { currency }: ChartWorkspace): string {
  const written = plain(name);
  if (unit === 'currency') return `${written} (${currency})`;
  return unit === 'percent' ? `${written} (%)` : written;
}

const monthFormat = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });

/** A day in UTC as the workspace writes dates. */
export function formatDate(time: number, { dateFormat }: ChartWorkspace): string {
  const date = new Date(time);
  const day = date.getUTCDate();
  const month = date.getUTCMonth();
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return dateFormat.replace(/D{1,2}|M{1,4}|YYYY|YY/g, (part) => {
    if (part[0] === 'D') return part === 'D' ? String(day) : String(day).padStart(2, '0');
    if (part[0] === 'Y') return part === 'YY' ? year.slice(-2) : year;
    if (part.startsWith('MMM')) return monthFormat.format(date).slice(0, part === 'MMM' ? 3 : undefined);
    return part === 'M' ? String(month + 1) : String(month + 1).padStart(2, '0');
  });
}

/** An integer with separators. */
export const formatCount = (count: number): string => count.toLocaleString('en');
