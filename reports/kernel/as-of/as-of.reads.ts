import { DataFlow } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { AsOfTable } from './as-of.tables.ts';

/** Which of the tables with history are read; nothing is collected of others. */
export interface Reads {
  /** Columns besides `id`, or any of them; absent: the table is not read. */
  cards?: readonly string[] | 'any';
  relations?: readonly string[] | 'any';
  /** Whether it reads data flows. */
  dataFlows?: boolean;
  /** Whether it reads any other table. */
  others: boolean;
}

/** The fields of events for columns with another name. */
const fields: Record<string, readonly string[]> = {
  lifecycle: lifecyclePhases.map((phase) => `lifecycle.${phase}`),
  name_key: ['name'],
  // not part of an event's changes: read from the row and its last event
  updated_at: [],
  updated_by: [],
};

const isNarrowed = (table: string): table is 'cards' | 'relations' =>
  table === 'cards' || table === 'relations';

/** Whether anything of a table is read; `card_tags` is one of the others. */
export function isRead(table: AsOfTable | 'card_tags', reads: Reads | undefined): boolean {
  if (!reads) return true;
  const name = table === 'card_tags' ? table : table.table;
  if (isNarrowed(name)) return reads[name] !== undefined;
  return reads.others || (name === DataFlow.tableName && reads.dataFlows === true);
}

/** The columns that are read of a table, or undefined for any. */
export function columnsRead({ table }: AsOfTable, reads: Reads | undefined): readonly string[] | undefined {
  if (!reads || !isNarrowed(table)) return undefined;
  const columns = reads[table] ?? [];
  // attributes may be any number of fields
  return columns === 'any' || columns.includes('attributes') ? undefined : columns;
}

/** The fields of events for the columns that are read of a table, or undefined for any. */
export const fieldsRead = (table: AsOfTable, reads: Reads | undefined): readonly string[] | undefined =>
  columnsRead(table, reads)?.flatMap((column) => fields[column] ?? [column]);

/** Whether the author or time of the last change is read, which every write changes. */
export const readsStamps = (columns: readonly string[] | undefined): boolean =>
  columns !== undefined && (columns.includes('updated_at') || columns.includes('updated_by'));
