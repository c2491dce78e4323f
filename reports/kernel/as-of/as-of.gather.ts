import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { literal } from './as-of.events.ts';

interface Gathered extends Fragment {
  /** Columns by which a row is known. */
  key: string;
  /** Columns that the planner has to know about. */
  counted: string;
}

/** Keeps the rows of a query for the transaction, under a name. */
export async function gather(
  sql: Knex.Transaction,
  name: string,
  { sql: query, bindings, key, counted }: Gathered,
): Promise<void> {
  // the database's workers cannot read a temporary table; this one is nobody else's and goes when the transaction does,
  // which is taken back
  const table = `public.${name}_${randomUUID().replaceAll('-', '')}`;
  // sorting the groups' events once more would take longer than all the rest. Sorting by row would mix the order up in which
  // the events come: with few of them it looks as cheap as hashing
  await sql.raw('set local enable_sort = off');
  await sql.raw(`create unlogged table ${table} as ${query}`, bindings);
  // unique as a whole, so that a join falls away where a query reads no column that has changed; a part of an index does
  // not tell that
  await sql.raw(`set local enable_sort to default;
    create unique index on ${table} (${key});
    set local default_statistics_target = 10;
    analyze ${table} (${counted});
    set local default_statistics_target to default;
    create temporary view ${name} as select * from ${table}`);
}

/**
 * Which fields changed in rows that stood at the moment, as the column `fields`; none of a row that was made since matters.
 * @param told what is null, as SQL, where a row does not tell of the field.
 */
export function changedFields(fields: readonly string[], told: (field: string) => string): string {
  const found = fields.map(
    (field) => `case when count(${told(field)}) filter (where existed) > 0 then ${literal(field)} end`,
  );
  return `array_remove(array[${found.join(', ')}]::text[], null) as fields`;
}
