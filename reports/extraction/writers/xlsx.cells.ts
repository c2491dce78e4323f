import { joinValues } from '../../../domain/transfer/csv-cells.ts';
import type { Cell, Column, ColumnType } from '../extraction.types.ts';

/** How many UTF-16 units a cell takes (ISO/IEC 29500 as Excel reads it). */
export const MAX_TEXT = 32_767;

/** Widths of columns, in characters. */
const widths: Record<ColumnType, number> = {
  text: 24,
  key: 24,
  number: 14,
  boolean: 10,
  date: 12,
  datetime: 20,
  multi: 24,
};

/** Number formats of dates and money. */
export const formats = { date: 'yyyy-mm-dd', datetime: 'yyyy-mm-dd hh:mm:ss', money: '#,##0.00' };

/** As wide as an id. */
const ID_WIDTH = 38;

/** The width of a column, in characters: its header is to be read, and ids stand whole. */
export const widthOf = ({ header, type }: Column): number =>
  type === 'key' && /^id$|_id$/.test(header)
    ? ID_WIDTH
    : Math.max(widths[type], Math.min(header.length + 2, 40));

// what XML 1.0 cannot hold at all: control characters, halves of surrogate pairs, non-characters
const notXml = /(?![\t\n\r\x7f-\x9f])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
// what readers would take for the escape of a character (ST_Xstring)
const escapeLike = /_(?=x[0-9a-f]{4}_)/gi;
// spreadsheets count a 29th of February 1900, and nothing before that year
const FIRST_DAY = Date.UTC(1900, 2, 1);

/** Undefined leaves the cell out. */
export type XlsxValue = string | number | boolean | Date | undefined;

/**
 * The content of a cell; dates are times in UTC, or texts where spreadsheets don't know the day.
 * @param cut is told how long the text was, if it had to be cut.
 */
export function toXlsxCell(cell: Cell, type: ColumnType, cut: (length: number) => void): XlsxValue {
  if (cell === null || cell === undefined || cell === '') return undefined;
  if (typeof cell === 'number' || typeof cell === 'boolean') return cell;
  if (type === 'date' || type === 'datetime') {
    const date = new Date(cell as string);
    if (date.getTime() >= FIRST_DAY) return date;
  }
  const text = typeof cell === 'string' ? cell : joinValues(cell);
  if (text.length <= MAX_TEXT) return forXml(text);
  cut(text.length);
  const high = text.charCodeAt(MAX_TEXT - 1);
  // both halves of a pair stay together
  return forXml(text.slice(0, high >= 0xd800 && high < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT));
}

// every character that is left out or taken for another, and a few more: to look for them takes a fifth of the time
const suspicious = /[^ -^`-~\xa0-\ud7ff]/;

function forXml(text: string): string {
  if (!suspicious.test(text)) return text;
  const clean = text.replace(notXml, '');
  return clean.includes('_') ? clean.replace(escapeLike, '_x005F_') : clean;
}
