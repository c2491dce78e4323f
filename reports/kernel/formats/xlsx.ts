import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { cellText } from './cells.ts';
import type { Cell, Column, ColumnType, Table, WriteOptions } from './formats.types.ts';
import { XML } from './ooxml.package.ts';
import { cellStyles, MAIN, packageParts } from './xlsx.package.ts';

export interface XlsxOptions extends WriteOptions {
  /** Rows of a sheet with its header; fewer than the format's limit in tests. */
  maxRows?: number;
}

/** Limit of the format (ISO/IEC 29500 as Excel reads it). */
const MAX_ROWS = 1_048_576;
/** Characters of XML per chunk. */
const PART = 128 * 1024;

/** A text that was truncated to fit into its cell. */
interface Note {
  sheet: string;
  row: number;
  column: string;
  length: number;
}

/**
 * Writes tables as the sheets of one workbook and ends the stream; destroys it on failure. Texts are string cells, never formulas. A
 * text over the format's limit is cut and listed on a sheet "Notes"; rows over the limit of a sheet go to a further one.
 * @throws the signal's reason when aborted.
 */
export async function writeXlsx(tables: Table[], out: Writable, options: XlsxOptions): Promise<void> {
  const { signal } = options;
  const stop = new AbortController();
  const signals = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const zip = new ZipFile();
  const sent = pipeline(zip.outputStream, out, { signal });
  // if the client disconnects, reading rows ends too
  sent.catch((error) => stop.abort(error));
  const sheets: string[] = [];
  const notes: Note[] = [];
  try {
    const writeSheet = async (name: string, chunks: AsyncIterable<string>) => {
      sheets.push(name);
      const part = new PassThrough();
      zip.addReadStream(part, `xl/worksheets/sheet${sheets.length}.xml`, { compressionLevel: 1 });
      await pipeline(chunks, part, { signal: signals });
    };
    for (const table of tables) await writeTable(table, writeSheet, notes, options);
    if (notes.length > 0) await writeTable(notesTable(notes), writeSheet, [], {});
    for (const [name, xml] of packageParts(sheets)) zip.addBuffer(Buffer.from(xml), name);
    zip.end();
    await sent;
  } catch (error) {
    const reason = signals.aborted ? signals.reason : error;
    out.destroy(reason as Error);
    throw reason;
  }
}

/** Writes a table as one sheet, or as several if it has too many rows. */
async function writeTable(
  { name, columns, batches }: Table,
  writeSheet: (name: string, chunks: AsyncIterable<string>) => Promise<void>,
  notes: Note[],
  { onRows, maxRows = MAX_ROWS }: XlsxOptions,
): Promise<void> {
  const source = batches[Symbol.asyncIterator]();
  let rows: readonly (readonly Cell[])[] = [];
  let next = 0;
  /** Whether there is a further row, which is the one after `next`. */
  const advance = async (): Promise<boolean> => {
    while (next === rows.length) {
      if (rows.length > 0) onRows?.(rows.length, name);
      const batch = await source.next();
      rows = batch.done ? [] : batch.value;
      next = 0;
      if (batch.done) return false;
    }
    return true;
  };
  async function* sheetXml(sheet: string): AsyncGenerator<string> {
    let row = 1;
    const xmlOf = rowXml(columns, (column, length) => {
      notes.push({ sheet, row, column: columns[column]!.header, length });
    });
    yield sheetStart(columns);
    while ((await advance()) && row < maxRows) {
      let xml = '';
      for (; next < rows.length && row < maxRows && xml.length < PART; next += 1) {
        row += 1;
        xml += xmlOf(rows[next]!, row);
      }
      yield xml;
    }
    yield sheetEnd(columns);
  }
  try {
    let sheet = 1;
    do {
      const title = sheet === 1 ? name : `${name} ${sheet}`;
      await writeSheet(title, sheetXml(title));
      sheet += 1;
    } while (await advance());
  } finally {
    await source.return?.();
  }
}

function notesTable(notes: Note[]): Table {
  return {
    name: 'Notes',
    columns: [
      { header: 'sheet', type: 'text' },
      { header: 'row', type: 'number' },
      { header: 'column', type: 'text' },
      { header: `length of the text, of which ${MAX_TEXT} characters fit into a cell`, type: 'number' },
    ],
    batches: (async function* () {
      yield notes.map(({ sheet, row, column, length }) => [sheet, row, column, length]);
    })(),
  };
}

/** How many UTF-16 units a cell takes (ISO/IEC 29500 as Excel reads it). */
const MAX_TEXT = 32_767;

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

/** The style of numbers and days in a column; texts in it have none. */
function styleOf({ type, money }: Column): string {
  if (money) return ` s="${cellStyles.money}"`;
  return type === 'date' || type === 'datetime' ? ` s="${cellStyles[type]}"` : '';
}

/**
 * Returns a function that writes the XML of rows. Texts are string cells, never formulas; empty cells and rows are omitted.
 * @param onCut is called for each truncated text, with the index of its column and its length.
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
        // do not split a surrogate pair
        text = text.slice(0, high >= 0xd800 && high < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT);
      }
      xml += `${open}${row}" t="str"><v>${textXml(text)}</v></c>`;
    }
    return xml === '' ? '' : `<row r="${row}">${xml}</row>`;
  };
}

/** The beginning of a sheet up to the first row of values: a header in bold that does not scroll. */
function sheetStart(columns: readonly Column[]): string {
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
const sheetEnd = (columns: readonly Column[]): string =>
  `</sheetData><autoFilter ref="A1:${columnName(Math.max(columns.length, 1))}1"/></worksheet>`;
