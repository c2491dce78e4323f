import type { Cell, Column, ColumnType } from './formats.types.ts';
import { cellText } from './lines.ts';
import { cellStyles, MAIN, XML } from './xlsx.package.ts';

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
  json: 24,
};

const ID_WIDTH = 38;

/** The width of a column in characters, in which its header and ids can be read. */
const widthOf = ({ header, type }: Column): number =>
  type === 'key' && /^id$|_id$/.test(header)
    ? ID_WIDTH
    : Math.max(widths[type], Math.min(header.length + 2, 40));

// what XML 1.0 cannot hold at all: control characters, halves of surrogate pairs, non-characters
const notXml = /(?![\t\n\r\x7f-\x9f])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
// what readers would take for the escape of a character (ST_Xstring)
const escapeLike = /_(?=x[0-9a-f]{4}_)/gi;
// markup, and what XML readers would turn into a line feed
const markup = /[&<>\r]/g;
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
// matches all of these and a few more characters, in a fifth of the time
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

/** The number in a sheet of a time in UTC; undefined for days that spreadsheets do not know, and for other texts. */
function serialOf(time: string): number | undefined {
  const ms = Date.parse(time);
  return ms >= FIRST_DAY ? EPOCH_DAY + ms / DAY_MS : undefined;
}

/** `A` for the first column, `AA` for the 27th. */
export function columnName(n: number): string {
  const letter = String.fromCharCode(65 + ((n - 1) % 26));
  return n > 26 ? columnName(Math.floor((n - 1) / 26)) + letter : letter;
}

/** The style of numbers and days in a column; texts in it have none. */
function styleOf({ type, money }: Column): string {
  if (money) return ` s="${cellStyles.money}"`;
  return type === 'date' || type === 'datetime' ? ` s="${cellStyles[type]}"` : '';
}

/**
 * Makes the XML of rows. Texts are string cells, never formulas; empty cells and rows are left out.
 * @param onCut is called for each text that was cut, with the index of its column and its length.
 */
export function rowXml(
  columns: readonly Column[],
  onCut: (column: number, length: number) => void,
): (cells: readonly Cell[], row: number) => string {
  const forms = columns.map((column, n) => ({
    isTime: column.type === 'date' || column.type === 'datetime',
    open: `<c r="${columnName(n + 1)}`,
    style: styleOf(column),
  }));
  return (cells, row) => {
    let xml = '';
    for (let n = 0; n < forms.length; n += 1) {
      const cell = cells[n];
      if (cell === null || cell === undefined || cell === '') continue;
      const { isTime, open, style } = forms[n]!;
      if (typeof cell === 'boolean') {
        xml += `${open}${row}" t="b"><v>${cell ? 1 : 0}</v></c>`;
        continue;
      }
      const number = isTime && typeof cell === 'string' ? serialOf(cell) : cell;
      if (typeof number === 'number') {
        xml += `${open}${row}"${style}><v>${number}</v></c>`;
        continue;
      }
      let text = cellText(cell);
      if (text.length > MAX_TEXT) {
        onCut(n, text.length);
        const high = text.charCodeAt(MAX_TEXT - 1);
        // both halves of a surrogate pair stay together
        text = text.slice(0, high >= 0xd800 && high < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT);
      }
      xml += `${open}${row}" t="str"><v>${textXml(text)}</v></c>`;
    }
    return xml === '' ? '' : `<row r="${row}">${xml}</row>`;
  };
}

/** The beginning of a sheet up to the first row of values: a header in bold that does not scroll. */
export function sheetStart(columns: readonly Column[]): string {
  const cols = columns.map(
    (column, n) => `<col min="${n + 1}" max="${n + 1}" width="${widthOf(column)}" customWidth="1"/>`,
  );
  const cells = columns.map(
    ({ header }, n) =>
      `<c r="${columnName(n + 1)}1" s="${cellStyles.header}" t="str"><v>${textXml(header)}</v></c>`,
  );
  return `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${cols.length > 0 ? `<cols>${cols.join('')}</cols>` : ''}<sheetData><row r="1">${cells.join('')}</row>`;
}

/** The end of a sheet. */
export const sheetEnd = (columns: readonly Column[]): string =>
  `</sheetData><autoFilter ref="A1:${columnName(Math.max(columns.length, 1))}1"/></worksheet>`;
