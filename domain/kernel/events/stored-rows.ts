import type { Sql } from '../../../platform/database.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { StoredRow } from './row-changes.ts';

/*
 * Rows as JSON, column by column, as events tell them: what is read, written and undone is the same text. Tables and
 * columns are named by code, never by a client.
 */

/**
 * One row, locked, or undefined. `where` holds columns with the values that they must have; each value is compared as
 * the column's own type, so that indexes serve. Ids are UUIDs: what is none is no row's.
 */
export async function lockRow(
  sql: Sql,
  table: string,
  where: Record<string, string>,
): Promise<StoredRow | undefined> {
  const columns = Object.keys(where);
  if (columns.some((column) => isId(column) && !isUuid(where[column]!))) return undefined;
  const { rows } = await sql.raw(
    `select to_jsonb(t) as row from ${table} t
     where ${columns.map((column) => `t.${column} = ?`).join(' and ')} for update`,
    columns.map((column) => where[column]!),
  );
  return rows[0]?.row;
}

const isId = (column: string): boolean => column === 'id' || column.endsWith('_id');

/** Inserts a row from the columns that are given; the others get their defaults. @returns the whole row. */
export async function insertRow(sql: Sql, table: string, values: StoredRow): Promise<StoredRow> {
  const columns = Object.keys(values)
    .filter((column) => values[column] !== undefined)
    .join(', ');
  const { rows } = await sql.raw(
    `insert into ${table} as t (${columns})
     select ${columns} from jsonb_populate_record(null::${table}, ?::jsonb) returning to_jsonb(t) as row`,
    [JSON.stringify(values)],
  );
  return rows[0].row;
}

/** Sets columns of the row with this key (`id` unless told otherwise), and `updated_at`. @returns the whole row. */
export async function updateRow(
  sql: Sql,
  table: string,
  key: { column: string; value: string },
  values: StoredRow,
): Promise<StoredRow> {
  const columns = Object.keys(values);
  const set = columns.map((column) => `${column} = v.${column}`).join(', ');
  const { rows } = await sql.raw(
    `update ${table} t set ${set}, updated_at = clock_timestamp()
     from jsonb_populate_record(null::${table}, ?::jsonb) v
     where t.${key.column} = ? returning to_jsonb(t) as row`,
    [JSON.stringify(values), key.value],
  );
  return rows[0].row;
}
