import { once } from 'node:events';
import type { Writable } from 'node:stream';
import ExcelJS from 'exceljs';
import { joinValues } from '../../../domain/transfer/csv-cells.ts';
import type { Cell, Column, OnRows, Table } from '../extraction.types.ts';

export interface XlsxOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/** Limits of the format (ISO/IEC 29500 as Excel reads it). */
const MAX_ROWS = 1_048_576;
const MAX_TEXT = 32_767;
// what XML 1.0 cannot hold at all: control characters, halves of surrogate pairs, non-characters
const notXml = /(?![\t\n\r\x7f-\x9f])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;

const widths: Record<Column['type'], number> = {
  text: 24,
  number: 14,
  boolean: 10,
  date: 12,
  datetime: 20,
  multi: 24,
};
const formats: Partial<Record<Column['type'], string>> = {
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
};

interface Note {
  sheet: string;
  row: number;
  column: string;
  length: number;
}

/**
 * Writes tables as the sheets of one workbook, streamed. Texts are string cells, never formulas; numbers, truth
 * values and dates have their own types. A text beyond the format's limit is cut and listed on a sheet "Notes";
 * rows beyond a sheet's limit go on in a further one. Ends the stream.
 * @throws the signal's reason when aborted.
 */
export async function writeXlsx(tables: Table[], out: Writable, options: XlsxOptions): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: out,
    useSharedStrings: false,
    useStyles: true,
    zip: { zlib: { level: 1 } },
  } as never);
  const notes: Note[] = [];
  for (const table of tables) await writeTable(workbook, table, out, notes, options);
  if (notes.length > 0) await writeNotes(workbook, notes);
  await workbook.commit();
}

function openSheet(workbook: ExcelJS.stream.xlsx.WorkbookWriter, name: string, columns: Column[]) {
  const sheet = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = columns.map(({ header, type }) => ({
    header,
    width: Math.max(widths[type], Math.min(header.length + 2, 40)),
    ...(formats[type] ? { style: { numFmt: formats[type] } } : {}),
  }));
  sheet.getRow(1).font = { bold: true };
  sheet.getRow(1).commit();
  return sheet;
}

async function writeTable(
  workbook: ExcelJS.stream.xlsx.WorkbookWriter,
  table: Table,
  out: Writable,
  notes: Note[],
  options: XlsxOptions,
): Promise<void> {
  let part = 1;
  let sheet = openSheet(workbook, table.name, table.columns);
  let row = 1;
  for await (const rows of table.batches) {
    options.signal?.throwIfAborted();
    for (const cells of rows) {
      if (row === MAX_ROWS) {
        await sheet.commit();
        part += 1;
        sheet = openSheet(workbook, `${table.name} ${part}`, table.columns);
        row = 1;
      }
      row += 1;
      const values = cells.map((cell, n) => {
        const value = toCell(cell, table.columns[n]!.type);
        if (typeof value !== 'string' || value.length <= MAX_TEXT) return value;
        notes.push({ sheet: sheet.name, row, column: table.columns[n]!.header, length: value.length });
        return value.slice(0, MAX_TEXT);
      });
      sheet.addRow(values).commit();
    }
    options.onRows?.(rows.length);
    // committing rows knows no back-pressure, so it is kept here
    await new Promise((resolve) => setImmediate(resolve));
    if (out.writableNeedDrain) await Promise.race([once(out, 'drain'), once(out, 'close')]);
    if (out.destroyed) throw out.errored ?? new Error('the reader has gone');
  }
  await sheet.commit();
}

function toCell(cell: Cell, type: Column['type']): string | number | boolean | Date | null {
  if (cell === null || cell === undefined) return null;
  if (type === 'date' || type === 'datetime') {
    const date = new Date(cell as string);
    return Number.isNaN(date.getTime()) ? String(cell) : date;
  }
  if (typeof cell === 'number' || typeof cell === 'boolean') return cell;
  return (Array.isArray(cell) ? joinValues(cell) : (cell as string)).replace(notXml, '');
}

async function writeNotes(workbook: ExcelJS.stream.xlsx.WorkbookWriter, notes: Note[]): Promise<void> {
  const columns: Column[] = [
    { header: 'sheet', type: 'text' },
    { header: 'row', type: 'number' },
    { header: 'column', type: 'text' },
    { header: `length of the text, of which ${MAX_TEXT} characters fit into a cell`, type: 'number' },
  ];
  const sheet = openSheet(workbook, 'Notes', columns);
  for (const { sheet: name, row, column, length } of notes)
    sheet.addRow([name, row, column, length]).commit();
  await sheet.commit();
}
