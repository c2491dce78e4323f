import { cellText } from './cells.ts';
import type { Cell, Column, ColumnType, FormColumn } from './formats.types.ts';
import { cellStyle } from './xlsx.package.ts';

/** How many UTF-16 units a cell takes (ISO/IEC 29500 as Excel reads it). */
export const MAX_TEXT = 32_767;

// characters that XML 1.0 does not allow: control characters, unpaired surrogates, non-characters
const notXml = /(?![\t\n\r\x7f-\x9f])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
// text that readers would interpret as an escaped character (ST_Xstring)
const escapeLike = /_(?=x[0-9a-f]{4}_)/gi;
// markup, and characters that XML readers convert to a line feed
const markup = /[&<>\r]/g;
const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
// a faster pre-check that matches all of these and a few more characters
const suspicious = /[^ -%'-;=?-^`-~\xa0-\ud7ff]/;

/** Escapes a text for the XML of a sheet. */
export function textXml(text: string): string {
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

/** The number in a sheet of a time in UTC; undefined for unsupported dates and other texts. */
function serialOf(time: string): number | undefined {
  const ms = Date.parse(time);
  return ms >= FIRST_DAY ? EPOCH_DAY + ms / DAY_MS : undefined;
}

/** `A` for the first column, `AA` for the 27th. */
export function columnName(n: number): string {
  const letter = String.fromCharCode(65 + ((n - 1) % 26));
  return n > 26 ? columnName(Math.floor((n - 1) / 26)) + letter : letter;
}

/** The styles of forms by the types of their columns. */
const inForms: Record<ColumnType, string> = {
  text: 'text',
  key: 'text',
  multi: 'text',
  json: 'text',
  number: 'number',
  boolean: 'number',
  date: 'date',
  datetime: 'datetime',
};

/** The style of the cells of a form's column. */
export const formStyle = ({ type, money }: Column, isLocked: boolean): number =>
  cellStyle(`${isLocked ? 'locked' : 'open'} ${money ? 'money' : inForms[type]}`);

/** The style of numbers and days in a column, and that of texts. */
function stylesOf(column: Column, form: FormColumn | undefined): { number: string; text: string } {
  const style = (n: number) => ` s="${n}"`;
  if (form) {
    const one = style(formStyle(column, form.locked !== undefined));
    return { number: one, text: one };
  }
  const { type, money } = column;
  if (money) return { number: style(cellStyle('money')), text: '' };
  return { number: type === 'date' || type === 'datetime' ? style(cellStyle(type)) : '', text: '' };
}

/** Spreadsheets keep that many digits of a number. */
const DIGITS = 15;
/** Integers below have no more digits. */
const SHORT = 10 ** DIGITS;

/** The text of a value for people who choose values by their labels. */
const labelled = (cell: NonNullable<Cell>, texts: ReadonlyMap<string, string>): NonNullable<Cell> => {
  if (typeof cell === 'string') return texts.get(cell) ?? cell;
  return Array.isArray(cell) ? cell.map((value: string) => texts.get(value) ?? value) : cell;
};

/**
 * Returns a function that writes the XML of rows. Texts are string cells, never formulas; empty cells and rows are omitted. In forms,
 * numbers with more digits than spreadsheets keep are texts.
 * @param onCut is called for each truncated text, with the index of its column and its length.
 */
export function rowXml(
  columns: readonly Column[],
  onCut: (column: number, length: number) => void,
  form?: readonly FormColumn[],
): (cells: readonly Cell[], row: number) => string {
  const forms = columns.map((column, n) => ({
    isTime: column.type === 'date' || column.type === 'datetime',
    open: `<c r="${columnName(n + 1)}`,
    style: stylesOf(column, form?.[n]),
    texts: form?.[n]?.texts,
  }));
  const isExact = (number: number) =>
    !form ||
    (Math.abs(number) < SHORT && Number.isInteger(number)) ||
    Number(number.toPrecision(DIGITS)) === number;
  return (cells, row) => {
    let xml = '';
    for (let n = 0; n < forms.length; n += 1) {
      const cell = cells[n];
      if (cell === null || cell === undefined || cell === '') continue;
      const { isTime, open, style, texts } = forms[n]!;
      if (typeof cell === 'boolean') {
        xml += `${open}${row}"${style.text} t="b"><v>${cell ? 1 : 0}</v></c>`;
        continue;
      }
      const number = isTime && typeof cell === 'string' ? serialOf(cell) : cell;
      if (typeof number === 'number' && isExact(number)) {
        xml += `${open}${row}"${style.number}><v>${number}</v></c>`;
        continue;
      }
      let text = cellText(texts ? labelled(cell, texts) : cell);
      if (text.length > MAX_TEXT) {
        onCut(n, text.length);
        const high = text.charCodeAt(MAX_TEXT - 1);
        // do not split a surrogate pair
        text = text.slice(0, high >= 0xd800 && high < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT);
      }
      // LibreOffice removes blanks around other texts
      xml +=
        form && text.trim().length < text.length
          ? `${open}${row}"${style.text} t="inlineStr"><is><t xml:space="preserve">${textXml(text)}</t></is></c>`
          : `${open}${row}"${style.text} t="str"><v>${textXml(text)}</v></c>`;
    }
    return xml === '' ? '' : `<row r="${row}">${xml}</row>`;
  };
}
