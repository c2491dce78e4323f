import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { literal } from './as-of.events.ts';

interface Gathered extends Fragment {
  /** Columns that identify a row. */
  key: string;
  /** Columns to analyze. */
  counted: string;
}

/** Stores the rows of a query for the transaction, under a name. */
export async function gather(
  sql: Knex.Transaction,
  name: string,
  { sql: query, bindings, key, counted }: Gathered,
): Promise<void> {
  // parallel workers cannot read a temporary table; this one is dropped when the transaction is rolled back
  const table = `public.${name}_${randomUUID().replaceAll('-', '')}`;
  // aggregate by hashing: sorting takes longer, and sorting by row would lose the order of the events
  await sql.raw('set local enable_sort = off');
  await sql.raw(`create unlogged table ${table} as ${query}`, bindings);
  // a unique index over all rows lets the planner remove joins for queries that read no changed column
  await sql.raw(`set local enable_sort to default;
    create unique index on ${table} (${key});
    set local default_statistics_target = 10;
    analyze ${table} (${counted});
    set local default_statistics_target to default;
    create temporary view ${name} as select * from ${table}`);
}

/**
 * The fields that changed in rows that existed then, as the column `fields`.
 * @param oldValue an SQL expression that is null where the field did not change.
 */
export function changedFields(fields: readonly string[], oldValue: (field: string) => string): string {
  const found = fields.map(
    (field) => `case when count(${oldValue(field)}) filter (where existed) > 0 then ${literal(field)} end`,
  );
  return `array_remove(array[${found.join(', ')}]::text[], null) as fields`;
}
