import { lifecyclePhases } from '../../domain/metamodel/metamodel.types.ts';
import type { PastTable } from './past.tables.ts';

/** Tables of which a reader may read a few columns. */
export type ReadTable = 'cards' | 'relations';

/** The columns of each that are read, besides `id`. */
export type Reads = Record<ReadTable, readonly string[]>;

/** What events call the values of columns that they do not call by the column's name. */
const fields: Record<string, readonly string[]> = {
  lifecycle: lifecyclePhases.map((phase) => `lifecycle.${phase}`),
  name_key: ['name'],
  // told by no change, but by the row itself and its events
  updated_at: [],
  updated_by: [],
};

/** Fields of a table that are known one by one are columns of `past_rows`, by this name. */
export const fieldColumn = (field: string): string => `"was ${field}"`;

/** The columns that are read of a table, or undefined when it may be any. */
export function columnsRead({ table }: PastTable, reads: Reads | undefined): readonly string[] | undefined {
  const columns = reads?.[table as ReadTable];
  // there may be any number of them
  return columns?.includes('attributes') ? undefined : columns;
}

/** The fields of events in which the columns of a table that are read can change, or undefined when it may be any. */
export const fieldsRead = (table: PastTable, reads: Reads | undefined): readonly string[] | undefined =>
  columnsRead(table, reads)?.flatMap((column) => fields[column] ?? [column]);

/** Whether it is read who wrote a row last, or when, which every write changes. */
export const readsStamps = (columns: readonly string[] | undefined): boolean =>
  columns !== undefined && (columns.includes('updated_at') || columns.includes('updated_by'));
