import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { AsOfTable } from './as-of.tables.ts';

/** What a reader reads of the tables that can be shown as they were; of those that it does not read nothing is gathered. */
export interface Reads {
  /** Columns besides `id`, or any of them; absent: the table is not read. */
  cards?: readonly string[] | 'any';
  relations?: readonly string[] | 'any';
  /** Whether it reads any other table. */
  others: boolean;
}

/** What events call the values of columns that they do not call by the column's name. */
const fields: Record<string, readonly string[]> = {
  lifecycle: lifecyclePhases.map((phase) => `lifecycle.${phase}`),
  name_key: ['name'],
  // told by no change, but by the row itself and its events
  updated_at: [],
  updated_by: [],
};

const isNarrowed = (table: string): table is 'cards' | 'relations' =>
  table === 'cards' || table === 'relations';

/** Whether anything of a table is read; `card_tags` is one of the others. */
export function isRead(table: AsOfTable | 'card_tags', reads: Reads | undefined): boolean {
  if (!reads) return true;
  const name = table === 'card_tags' ? table : table.table;
  return isNarrowed(name) ? reads[name] !== undefined : reads.others;
}

/** The columns that are read of a table, or undefined when it may be any. */
export function columnsRead({ table }: AsOfTable, reads: Reads | undefined): readonly string[] | undefined {
  if (!reads || !isNarrowed(table)) return undefined;
  const columns = reads[table] ?? [];
  // attributes may be any number of fields
  return columns === 'any' || columns.includes('attributes') ? undefined : columns;
}

/** The fields of events in which the columns of a table that are read can change, or undefined when it may be any. */
export const fieldsRead = (table: AsOfTable, reads: Reads | undefined): readonly string[] | undefined =>
  columnsRead(table, reads)?.flatMap((column) => fields[column] ?? [column]);

/** Whether it is read who wrote a row last, or when, which every write changes. */
export const readsStamps = (columns: readonly string[] | undefined): boolean =>
  columns !== undefined && (columns.includes('updated_at') || columns.includes('updated_by'));
