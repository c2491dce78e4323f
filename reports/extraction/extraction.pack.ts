import type { Column } from './extraction.types.ts';

/** Neighbouring columns whose cells the database writes as one text of CSV. */
export interface PackedColumn extends Column {
  type: 'csv';
  sql: string;
}

export const isPacked = (column: Column): column is PackedColumn => column.type === 'csv';

/** How a value stands in a CSV cell, as an SQL expression: what `quoteCell` and, with `guard`, `neutralise` make of it. */
export function csvCellSql(value: string, type: Column['type'], guard: boolean): string {
  if (type !== 'text') return `coalesce((${value})::text, '')`;
  const guarded = guard ? `case when v ~ '^''*[=+@\\t\\r-]' then '''' || v else v end` : 'v';
  // most texts need nothing, which one look tells
  return `(select case
      when v is null then ''
      when v ~ '[",;\\t\\r\\n]|^[ ''=+@-]| $' then
        (select case when g ~ '[",;\\t\\r\\n]|^ | $' then '"' || replace(g, '"', '""') || '"' else g end
         from (select ${guarded} as g) as guarded)
      else v end
    from (select ${value} as v) as plain)`;
}

/**
 * Puts neighbouring columns together of which the database can write the CSV text: to parse, quote and guard them one by
 * one takes a quarter of the whole export here, and less there, where another core does it.
 * @param sqlOf the expression of a column's value; undefined for columns that are not packed.
 */
export function packColumns(
  columns: Column[],
  sqlOf: (column: Column) => string | undefined,
  guard: boolean,
): Column[] {
  const packed: (Column | PackedColumn)[] = [];
  for (const column of columns) {
    const value = sqlOf(column);
    const before = packed.at(-1);
    if (value === undefined) {
      packed.push(column);
      continue;
    }
    const sql = csvCellSql(value, column.type, guard);
    const both = before && isPacked(before);
    if (both) packed.pop();
    packed.push({
      header: both ? `${before.header},${column.header}` : column.header,
      type: 'csv',
      sql: both ? `${before.sql} || ',' || ${sql}` : sql,
    });
  }
  return packed;
}
