import type { Writable } from 'node:stream';
import { invalidField } from '../../platform/errors.ts';
import type { Cell, Column, ColumnType, Table } from './formats/formats.types.ts';
import { writeCsv } from './formats/lines.ts';
import { writeXlsx } from './formats/xlsx.ts';
import type { ReportTable } from './report.ts';

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
export function answerTable<N extends string>(
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
 * The table with the name; by default the first one.
 * @throws EstateError 422 naming the available tables.
 */
export function tableNamed<T extends { name: string }>(tables: T[], name: string | undefined): T {
  const found = name === undefined ? tables[0] : tables.find((table) => table.name === name);
  if (!found) {
    const names = tables.map((table) => table.name).join(', ');
    throw invalidField('table', 'unknown_value', `is none of ${names}`);
  }
  return found;
}

/** Writes one table as CSV; texts that a spreadsheet would evaluate as formulas are escaped. */
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
