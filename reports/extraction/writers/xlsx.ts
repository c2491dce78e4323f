import type { Writable } from 'node:stream';
import type ExcelJS from 'exceljs';
import { tidy } from '../../../platform/heap.ts';
import type { Column, OnRows, Table } from '../extraction.types.ts';
import { formats, MAX_TEXT, toXlsxCell, widthOf } from './xlsx.cells.ts';
import { WorkbookStream } from './xlsx.stream.ts';

export interface XlsxOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
  /** How many rows a sheet takes, its header included; fewer than the format's limit for tests. */
  maxRows?: number;
}

/** So much larger may old objects be than what is in use: clearing up at a tenth would take a tenth of the time. */
const UNTIDY = 1.25;

/** Limit of the format (ISO/IEC 29500 as Excel reads it). */
const MAX_ROWS = 1_048_576;

/** A text that did not fit into its cell. */
interface Note {
  sheet: string;
  row: number;
  column: string;
  length: number;
}

/**
 * Writes tables as the sheets of one workbook, streamed. Texts are string cells, never formulas; numbers, truth
 * values and dates have their own types. A text beyond the format's limit is cut and listed on a sheet "Notes";
 * rows beyond a sheet's limit go on in a further one. Ends the stream; destroys it on failure.
 * @throws the signal's reason when aborted.
 */
export async function writeXlsx(tables: Table[], out: Writable, options: XlsxOptions): Promise<void> {
  const workbook = await WorkbookStream.open(out, options.signal);
  try {
    const notes: Note[] = [];
    for (const table of tables) await writeTable(workbook, table, notes, options);
    if (notes.length > 0) await writeTable(workbook, notesTable(notes), [], {});
    await workbook.finish();
  } catch (error) {
    throw workbook.fail(error);
  }
}

type Sheet = ReturnType<WorkbookStream['addSheet']>;

function openSheet(workbook: WorkbookStream, name: string, columns: Column[]): Sheet {
  const sheet = workbook.addSheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.autoFilter = { from: { row: 1, column: 1 }, to: { row: 1, column: Math.max(columns.length, 1) } };
  sheet.columns = columns.map((column) => ({ width: widthOf(column) }));
  const row = sheet.addRow(columns.map(({ header }) => header));
  row.eachCell((cell) => {
    cell.style = headerStyle;
  });
  row.commit();
  return sheet;
}

// The same objects for all cells: the writer looks styles up by identity, and builds the XML of unknown ones anew.
const plainStyle: Partial<ExcelJS.Style> = {};
const headerStyle: Partial<ExcelJS.Style> = { font: { bold: true } };
const styles = {
  date: { numFmt: formats.date },
  datetime: { numFmt: formats.datetime },
  money: { numFmt: formats.money },
};

/** The look of numbers and days in a column; a text among them keeps the plain one. */
function styleOf({ type, money }: Column): Partial<ExcelJS.Style> {
  if (money) return styles.money;
  return type === 'date' || type === 'datetime' ? styles[type] : plainStyle;
}

async function writeTable(
  workbook: WorkbookStream,
  table: Table,
  notes: Note[],
  { onRows, maxRows = MAX_ROWS }: XlsxOptions,
): Promise<void> {
  const { columns } = table;
  const ofColumns = columns.map(styleOf);
  let part = 1;
  let sheet = openSheet(workbook, table.name, columns);
  let row = 1;
  let place = 0;
  const cut = (length: number) => {
    notes.push({ sheet: sheet.name, row, column: columns[place]!.header, length });
  };
  for await (const rows of table.batches) {
    // the first leaves little, and may be all
    if (row > 1) tidy(UNTIDY);
    for (const cells of rows) {
      if (row === maxRows) {
        sheet.commit();
        part += 1;
        sheet = openSheet(workbook, `${table.name} ${part}`, columns);
        row = 1;
      }
      row += 1;
      const values = columns.map(({ type }, n) => {
        place = n;
        return toXlsxCell(cells[n], type, cut);
      });
      const written = sheet.addRow(values);
      written.eachCell((cell, column) => {
        const value = values[column - 1];
        cell.style = typeof value === 'number' || value instanceof Date ? ofColumns[column - 1]! : plainStyle;
      });
      written.commit();
      if (row % 250 === 0) await workbook.drained(sheet);
    }
    onRows?.(rows.length, table.name);
    await workbook.drained(sheet);
  }
  sheet.commit();
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
    expected: notes.length,
    batches: (async function* () {
      yield notes.map(({ sheet, row, column, length }) => [sheet, row, column, length]);
    })(),
  };
}
