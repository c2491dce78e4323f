import type { RemoteField, RemoteRecord } from '../../remote.types.ts';
import { fromRemoteTime } from './query.ts';

/** Columns that every record is read with. */
export const systemColumns = ['sys_id', 'sys_updated_on', 'sys_class_name'];
/** The column that counts the changes of a record: its version, if it was read. */
export const CHANGES = 'sys_mod_count';

/** The value of a column as text, empty if it has none. */
export const textOf = ({ fields }: Pick<RemoteRecord, 'fields'>, name: string): string =>
  String(fields[name]?.value ?? '');

type Cell = string | { value?: string | null; display_value?: string | null } | null | undefined;

const cellOf = (cell: Cell): RemoteField => {
  if (typeof cell === 'object' && cell !== null) {
    const value = cell.value ?? cell.display_value ?? '';
    const display = cell.display_value ?? '';
    return display === value || display === '' ? { value } : { value, display };
  }
  return { value: cell ?? '' };
};

/** A row as a record; undefined if it is not a row of a table. */
export function recordOf(table: string, row: unknown, fields: string[]): RemoteRecord | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const cells = row as Record<string, Cell>;
  const id = cellOf(cells.sys_id).value;
  const updatedAt = fromRemoteTime(String(cellOf(cells.sys_updated_on).value));
  if (typeof id !== 'string' || id === '') return undefined;
  const shown: Record<string, RemoteField> = {};
  // a column that is not in the answer is unknown, which is not the same as empty
  for (const name of fields) if (cells[name] !== undefined) shown[name] = cellOf(cells[name]);
  const version = cells[CHANGES] === undefined ? '' : String(cellOf(cells[CHANGES]).value ?? '');
  return {
    table,
    id,
    fields: shown,
    updatedAt: updatedAt ?? new Date(0).toISOString(),
    ...(version === '' ? {} : { version }),
  };
}

/** The rows of a response as records, each id once: the later of two is the newer one. */
export function recordsOf(table: string, rows: unknown, fields: string[]): RemoteRecord[] {
  const records = new Map<string, RemoteRecord>();
  for (const row of Array.isArray(rows) ? rows : []) {
    const record = recordOf(table, row, fields);
    if (record) records.set(record.id, record);
  }
  return [...records.values()];
}
