import type { Writable } from 'node:stream';
import type ExcelJS from 'exceljs';
import type { Column, OnRows, Table } from './formats.types.ts';
import { formats, MAX_TEXT, rowXml, widthOf } from './xlsx.cells.ts';
import { type Sheet, WorkbookStream } from './xlsx.stream.ts';

export interface XlsxOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
  /** How many rows a sheet takes, its header included; fewer than the format's limit for tests. */
  maxRows?: number;
}

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

const headerStyle: Partial<ExcelJS.Style> = { font: { bold: true } };
const styles = {
  date: { numFmt: formats.date },
  datetime: { numFmt: formats.datetime },
  money: { numFmt: formats.money },
};

/** The look of numbers and days in a column; a text among them keeps the plain one. */
function styleOf({ type, money }: Column): Partial<ExcelJS.Style> | undefined {
  if (money) return styles.money;
  return type === 'date' || type === 'datetime' ? styles[type] : undefined;
}

/** So many characters of rows go to be compressed at once. */
const PART = 128 * 1024;

async function writeTable(
  workbook: WorkbookStream,
  { name, columns, batches }: Table,
  notes: Note[],
  { onRows, maxRows = MAX_ROWS }: XlsxOptions,
): Promise<void> {
  const forms = columns.map((column) => {
    const style = styleOf(column);
    return { type: column.type, style: style ? ` s="${workbook.styleId(style)}"` : '' };
  });
  let part = 1;
  let sheet = openSheet(workbook, name, columns);
  let row = 1;
  const xmlOf = rowXml(forms, (column, length) => {
    notes.push({ sheet: sheet.name, row, column: columns[column]!.header, length });
  });
  let xml = '';
  for await (const rows of batches) {
    for (const cells of rows) {
      if (row === maxRows) {
        await workbook.writeRows(sheet, xml);
        xml = '';
        sheet.commit();
        part += 1;
        sheet = openSheet(workbook, `${name} ${part}`, columns);
        row = 1;
      }
      row += 1;
      xml += xmlOf(cells, row);
      if (xml.length < PART) continue;
      await workbook.writeRows(sheet, xml);
      xml = '';
    }
    await workbook.writeRows(sheet, xml);
    xml = '';
    onRows?.(rows.length, name);
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
