import { joinValues } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { Cell, Column, ColumnType } from './formats.types.ts';

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
// what means something in XML, and what its readers make a line feed of
const markup = /[&<>\r]/g;
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
// all of these and a few more: to look for them takes a fifth of the time
const suspicious = /[^ -%'-;=?-^`-~\xa0-\ud7ff]/;

/** A text as it stands in the XML of a sheet. */
function textXml(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replace(notXml, '')
    .replace(escapeLike, '_x005F_')
    .replace(markup, (character) => escapes[character]!);
}

const DAY_MS = 86_400_000;
// spreadsheets count a 29th of February 1900, and nothing before that year
const FIRST_DAY = Date.UTC(1900, 2, 1);
/** The number of 1970-01-01 (ECMA-376 part 1, 18.17.4.1, the 1900 date base). */
const EPOCH_DAY = 25_569;

/** The number in a sheet of a moment in UTC; undefined where spreadsheets don't know the day, or the text is none. */
function serialOf(moment: string): number | undefined {
  const ms = Date.parse(moment);
  return ms >= FIRST_DAY ? EPOCH_DAY + ms / DAY_MS : undefined;
}

/** `A` for the first column, `AA` for the 27th. */
export function columnName(n: number): string {
  const letter = String.fromCharCode(65 + ((n - 1) % 26));
  return n > 26 ? columnName(Math.floor((n - 1) / 26)) + letter : letter;
}

/** How the cells of a column are written. */
export interface ColumnForm {
  type: ColumnType;
  /** The style of numbers and days in it, as it stands in a cell: empty, or with a blank in front. */
  style: string;
}

/**
 * Makes the XML of rows, without the library's objects for each cell, which take most of its time. Texts are string cells,
 * never formulas; an empty cell is left out, and so is an empty row.
 * @param cut is told of each text that had to be cut: the number of its column from 0, and how long it was.
 */
export function rowXml(
  forms: readonly ColumnForm[],
  cut: (column: number, length: number) => void,
): (cells: readonly Cell[], row: number) => string {
  const columns = forms.map(({ type, style }, n) => ({
    moment: type === 'date' || type === 'datetime',
    open: `<c r="${columnName(n + 1)}`,
    style,
  }));
  return (cells, row) => {
    let xml = '';
    for (let n = 0; n < columns.length; n += 1) {
      const cell = cells[n];
      if (cell === null || cell === undefined || cell === '') continue;
      const { moment, open, style } = columns[n]!;
      if (typeof cell === 'number') {
        xml += `${open}${row}"${style}><v>${cell}</v></c>`;
        continue;
      }
      if (typeof cell === 'boolean') {
        xml += `${open}${row}" t="b"><v>${cell ? 1 : 0}</v></c>`;
        continue;
      }
      const serial = moment ? serialOf(cell as string) : undefined;
      if (serial !== undefined) {
        xml += `${open}${row}"${style}><v>${serial}</v></c>`;
        continue;
      }
      let text = typeof cell === 'string' ? cell : joinValues(cell);
      if (text.length > MAX_TEXT) {
        cut(n, text.length);
        const high = text.charCodeAt(MAX_TEXT - 1);
        // both halves of a pair stay together
        text = text.slice(0, high >= 0xd800 && high < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT);
      }
      xml += `${open}${row}" t="str"><v>${textXml(text)}</v></c>`;
    }
    return xml === '' ? '' : `<row r="${row}">${xml}</row>`;
  };
}
