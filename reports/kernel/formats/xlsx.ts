import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Cell, Table, WriteOptions } from './formats.types.ts';
import { MAX_TEXT, rowXml, sheetEnd, sheetStart } from './xlsx.cells.ts';
import { packageParts } from './xlsx.package.ts';

export interface XlsxOptions extends WriteOptions {
  /** Rows of a sheet with its header; fewer than the format's limit in tests. */
  maxRows?: number;
}

/** Limit of the format (ISO/IEC 29500 as Excel reads it). */
const MAX_ROWS = 1_048_576;
/** Characters of XML that are compressed at once. */
const PART = 128 * 1024;

/** A text that was cut to fit into its cell. */
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
  // a reader that is gone also ends the reading of rows
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

/** Writes a table as a sheet, and as further ones where it has too many rows. */
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
