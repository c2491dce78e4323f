import type { Writable } from 'node:stream';
import type { ReportFormat } from '../../domain/inventory/reports/report.options.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { XLSX } from '../../domain/kernel/transfer/xlsx.read.ts';
import { invalidField } from '../../platform/errors.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { Cell, Column, ColumnType, Table, WriteOptions } from './formats/formats.types.ts';
import { writeCsv } from './formats/lines.ts';
import { writeXlsx } from './formats/xlsx.ts';
import type { ReportTable } from './report.ts';

/** Media types of report files. */
export const fileMediaTypes: Record<ReportFormat, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  xlsx: XLSX,
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  pdf: 'application/pdf',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  chart: 'application/vnd.estate.chart+json; charset=utf-8',
};

/** The formats that are zips, which contain their creation time. */
export const isZip = (format: ReportFormat): boolean => format === 'xlsx' || format === 'pptx';

/** The formats of tables. */
export type TableFormat = 'csv' | 'xlsx';

/** Rows per batch. */
const BATCH = 1_000;

/** A column of a report's table; the type determines its format in files. */
export const column = (header: string, type: ColumnType = 'text'): Column => ({ header, type });

/** A column of money, in the workspace's currency. */
const moneyColumn = (header: string): Column => ({ header, type: 'number', money: true });

type ColumnKind = ColumnType | 'money';

/** The columns of a table by the members of its rows, which name them. */
type ColumnKinds<R, C> = {
  [K in keyof C]: K extends keyof R ? (R[K] extends Cell ? ColumnKind : never) : never;
};

/** A table with the given members of its rows as columns, in their order. */
export function reportTable<R, C extends ColumnKinds<R, C>>(
  name: string,
  kinds: C,
  rows: Iterable<R>,
): ReportTable {
  const columns = Object.entries<ColumnKind>(kinds).map(([header, kind]) =>
    kind === 'money' ? moneyColumn(header) : column(header, kind),
  );
  const cellsOf = (row: R) => columns.map(({ header }) => row[header as keyof R] as Cell);
  return { name, columns, rows: Iterator.from(rows).map(cellsOf) };
}

interface PlainSchema {
  type?: string;
  format?: string;
  anyOf?: PlainSchema[];
}

const typeByFormat: Record<string, ColumnType> = {
  uuid: 'key',
  date: 'date',
  'date-time': 'datetime',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  string: 'text',
};

/** The type of a column with values of a schema; undefined for objects and lists. */
const columnTypeOf = ({ type = '', format = type, anyOf }: PlainSchema): ColumnType | undefined =>
  anyOf ? columnTypeOf(anyOf[0]!) : typeByFormat[format];

/** A table of a list in a report's answer, with a column for each plain member of its items' schema. */
export function resultTable<N extends string>(
  { properties }: { properties: Record<NoInfer<N>, { items: { properties: object } }> },
  answer: Record<NoInfer<N>, readonly object[]>,
  name: N,
): ReportTable {
  const members = Object.entries<PlainSchema>({ ...properties[name].items.properties });
  const columns = members.flatMap(([header, schema]) => {
    const type = columnTypeOf(schema);
    return type ? [column(header, type)] : [];
  });
  const cellsOf = (row: object) => columns.map(({ header }) => (row as Record<string, Cell>)[header]);
  return { name, columns, rows: Iterator.from(answer[name]).map(cellsOf) };
}

/** A table of figures by name. */
export const figuresTable = (name: string, figures: Record<string, number>): ReportTable =>
  reportTable(
    name,
    { figure: 'key', value: 'number' },
    Object.entries(figures).map(([figure, value]) => ({ figure, value })),
  );

/** A table of figures by group and name. */
export const groupedFiguresTable = (groups: Record<string, Record<string, number | null>>): ReportTable =>
  reportTable(
    'figures',
    { group: 'key', figure: 'key', value: 'number' },
    Object.entries(groups).flatMap(([group, figures]) =>
      Object.entries(figures).map(([figure, value]) => ({ group, figure, value })),
    ),
  );

/**
 * The tables of a file: CSV contains the one with the name, by default the first; a workbook contains all.
 * @throws EstateError 422 naming the available tables.
 */
export function tablesOf<T extends { name: string }>(format: TableFormat, tables: T[], name?: string): T[] {
  if (format === 'xlsx') return tables;
  const found = name === undefined ? tables[0] : tables.find((table) => table.name === name);
  if (!found) {
    const names = tables.map((table) => table.name).join(', ');
    throw invalidField('table', 'unknown_value', `is none of ${names}`);
  }
  return [found];
}

/**
 * Writes tables and ends the stream: one as CSV, in which texts that a spreadsheet would evaluate as formulas are escaped,
 * or all as the sheets of one workbook, with typed cells.
 */
export async function writeTables(
  format: TableFormat,
  tables: Table[],
  out: Writable,
  options: WriteOptions = {},
): Promise<void> {
  if (format === 'csv') await writeCsv(tables[0]!, out, options);
  else await writeXlsx(tables, out, options);
}

/** A table whose rows a statement returns. */
export const statementTable = (
  snapshot: Snapshot,
  { name, columns }: Omit<Table, 'batches'>,
  { sql, bindings }: Fragment,
): Table => ({ name, columns, batches: snapshot.batches(sql, bindings, BATCH) as Table['batches'] });

/** A table of rows in memory. */
export const rowsTable = ({ name, columns, rows }: ReportTable): Table => ({
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
