import type { Writable } from 'node:stream';
import { invalidField } from '../../platform/errors.ts';
import type { Cell, Column, ColumnType, Table } from './formats/formats.types.ts';
import { writeCsv } from './formats/lines.ts';
import { writeXlsx } from './formats/xlsx.ts';
import type { ReportTable } from './report.ts';

const BATCH = 1_000;

/** A column of a report's table; the type decides how it stands in files. */
export const column = (header: string, type: ColumnType = 'text'): Column => ({ header, type });

/** A column of money, in the workspace's currency. */
export const moneyColumn = (header: string): Column => ({ header, type: 'number', money: true });

/**
 * The table of that name; the first without one.
 * @throws EstateError 422 naming the tables that there are.
 */
export function tableNamed<T extends { name: string }>(tables: T[], name: string | undefined): T {
  const found = name === undefined ? tables[0] : tables.find((table) => table.name === name);
  if (!found) {
    const names = tables.map((table) => table.name).join(', ');
    throw invalidField('table', 'unknown_value', `is none of ${names}`);
  }
  return found;
}

/** Writes one table as CSV, with texts guarded against being calculated by a spreadsheet. */
export async function writeReportCsv(table: ReportTable, out: Writable): Promise<void> {
  await writeCsv(tableOf(table), out, {});
}

/** Writes the tables as the sheets of one workbook, with typed cells. */
export async function writeReportXlsx(tables: ReportTable[], out: Writable): Promise<void> {
  await writeXlsx(tables.map(tableOf), out, {});
}

const tableOf = ({ name, columns, rows }: ReportTable): Table => ({
  name,
  columns,
  batches: batchesOf(rows),
});

async function* batchesOf(rows: Iterable<readonly Cell[]>): AsyncGenerator<(readonly Cell[])[]> {
  let batch: (readonly Cell[])[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
