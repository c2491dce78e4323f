import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from '../../../platform/zip.ts';
import type { Cell, Column, ColumnType, Table, WriteOptions } from './formats.types.ts';
import { XML } from './ooxml.package.ts';
import { columnName, formStyle, MAX_TEXT, rowXml, textXml } from './xlsx.cells.ts';
import { ChoiceLists, headerNotes, notesReference, protection, validations } from './xlsx.form.ts';
import { cellStyle, MAIN, MAX_ROWS, packageParts, type SheetPart, sheetName } from './xlsx.package.ts';

export interface XlsxOptions extends WriteOptions {
  /** Rows of a sheet with its header; fewer than the format's limit in tests. */
  maxRows?: number;
  /** The name of the hidden sheet with what drop-down lists offer; of workbooks with forms. */
  listsSheet?: string;
}

/** Characters of XML per chunk. */
const PART = 128 * 1024;

/** A text that was truncated to fit into its cell. */
interface Note {
  sheet: string;
  row: number;
  column: string;
  length: number;
}

/** What the sheets of a workbook share. */
interface Book {
  notes: Note[];
  lists: ChoiceLists;
  /** Names of sheets, in lower case. */
  used: Set<string>;
  write(sheet: SheetPart, chunks: AsyncIterable<string>): Promise<void>;
  /** The number of the next sheet, from 1. */
  next(): number;
}

/** Writes tables as the sheets of one workbook; see {@link writeWorkbook}. */
export async function writeXlsx(tables: Table[], out: Writable, options: XlsxOptions): Promise<void> {
  await writeWorkbook(out, options, async (add) => {
    for (const table of tables) await add(table);
  });
}

/**
 * Writes the tables that are added as the sheets of one workbook, each while it is added, and ends the stream; destroys it on
 * failure. Texts are string cells, never formulas. A text over the format's limit is cut and listed on a sheet "Notes"; rows
 * over the limit of a sheet go to a further one.
 * @throws the signal's reason when aborted.
 */
export async function writeWorkbook(
  out: Writable,
  options: XlsxOptions,
  fill: (add: (table: Table) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { signal, listsSheet = 'Lists' } = options;
  const stop = new AbortController();
  const signals = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const zip = new ZipFile();
  const sent = pipeline(zip.outputStream, out, { signal });
  // if the client disconnects, reading rows ends too
  sent.catch((error) => stop.abort(error));
  const sheets: SheetPart[] = [];
  try {
    const used = new Set<string>();
    const book: Book = {
      notes: [],
      lists: new ChoiceLists(listsSheet),
      used,
      next: () => sheets.length + 1,
      async write(sheet, chunks) {
        sheets.push(sheet);
        const part = new PassThrough();
        zip.addReadStream(part, `xl/worksheets/sheet${sheets.length}.xml`, { compressionLevel: 1 });
        await pipeline(chunks, part, { signal: signals });
      },
    };
    const named = (table: Table) => ({ ...table, sheet: sheetName(table.name, 1, used) });
    await fill((table) => writeTable(named(table), book, options));
    const more = [
      ...(book.notes.length > 0 ? [notesTable(book.notes)] : []),
      ...(book.lists.lists.length > 0 ? [{ ...listsTable(book.lists), isHidden: true }] : []),
    ];
    for (const table of more) await writeTable(named(table), { ...book, notes: [] }, {});
    for (const [name, xml] of packageParts(sheets)) zip.addBuffer(Buffer.from(xml), name);
    zip.end();
    await sent;
  } catch (error) {
    const reason = signals.aborted ? signals.reason : error;
    out.destroy(reason as Error);
    throw reason;
  }
}

/** A table with the name of its first sheet. */
interface NamedTable extends Table {
  sheet: string;
  isHidden?: boolean;
}

/** Writes a table as one sheet, or as several if it has too many rows. */
async function writeTable(
  { name, columns, batches, form, sheet: firstSheet, isHidden }: NamedTable,
  book: Book,
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
    const onCut = (column: number, length: number) => {
      book.notes.push({ sheet, row, column: columns[column]!.header, length });
    };
    const xmlOf = rowXml(columns, onCut, form);
    yield sheetStart(columns, form);
    while ((await advance()) && row < maxRows) {
      let xml = '';
      for (; next < rows.length && row < maxRows && xml.length < PART; next += 1) {
        row += 1;
        xml += xmlOf(rows[next]!, row);
      }
      yield xml;
    }
    yield `</sheetData>${form ? protection : ''}${filter(columns, form ? row : 1)}`;
    yield form ? `${validations(form, book.lists, row)}${notesReference}</worksheet>` : '</worksheet>';
  }
  try {
    let sheet = 1;
    do {
      const title = sheet === 1 ? firstSheet : sheetName(name, sheet, book.used);
      const notes = form && headerNotes(form, book.next());
      await book.write({ name: title, ...(isHidden && { isHidden }), notes }, sheetXml(title));
      sheet += 1;
    } while (await advance());
  } finally {
    await source.return?.();
  }
}

/** A table of few rows. */
const tableOf = (name: string, columns: Column[], rows: Cell[][]): Table => ({
  name,
  columns,
  batches: (async function* () {
    yield rows;
  })(),
});

const notesTable = (notes: Note[]): Table =>
  tableOf(
    'Notes',
    [
      { header: 'sheet', type: 'text' },
      { header: 'row', type: 'number' },
      { header: 'column', type: 'text' },
      { header: `length of the text, of which ${MAX_TEXT} characters fit into a cell`, type: 'number' },
    ],
    notes.map(({ sheet, row, column, length }) => [sheet, row, column, length]),
  );

/** Each list as a column below a number. */
function listsTable({ sheet, lists }: ChoiceLists): Table {
  const most = Math.max(...lists.map((list) => list.length));
  return tableOf(
    sheet,
    lists.map((_, n) => ({ header: String(n + 1), type: 'text' })),
    Array.from({ length: most }, (_, n) => lists.map((list) => list[n])),
  );
}

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
const widthOf = ({ header, type }: Column, title: string): number =>
  type === 'key' && /^id$|_id$/.test(header)
    ? ID_WIDTH
    : Math.max(widths[type], Math.min(title.length + 2, 40));

/** The beginning of a sheet up to the first row of values: a header in bold that does not scroll. */
function sheetStart(columns: readonly Column[], form: Table['form']): string {
  const titles = columns.map(({ header }, n) => form?.[n]?.title ?? header);
  const cols = columns.map((column, n) => {
    // the style of cells without a value
    const style = form ? ` style="${formStyle(column, form[n]!.locked === 'all')}"` : '';
    return `<col min="${n + 1}" max="${n + 1}" width="${widthOf(column, titles[n]!)}"${style} customWidth="1"/>`;
  });
  const cells = titles.map(
    (title, n) =>
      `<c r="${columnName(n + 1)}1" s="${cellStyle('header')}" t="str"><v>${textXml(title)}</v></c>`,
  );
  return `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${cols.length > 0 ? `<cols>${cols.join('')}</cols>` : ''}<sheetData><row r="1">${cells.join('')}</row>`;
}

/** The filter of a sheet whose last row is the given one. */
const filter = (columns: readonly Column[], row: number): string =>
  `<autoFilter ref="A1:${columnName(Math.max(columns.length, 1))}${row}"/>`;
