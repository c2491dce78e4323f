import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { partOfAny } from './past.any.ts';
import { literal, PARTS, type PastScope } from './past.events.ts';
import { partOfFew } from './past.few.ts';
import {
  columnsRead,
  fewFields,
  fieldColumn,
  fieldsRead,
  isRead,
  type Reads,
  readsStamps,
} from './past.reads.ts';
import { type PastTable, pastTables } from './past.tables.ts';

/** A table with rows that may have been written after the moment. */
export interface TouchedTable {
  table: PastTable | 'card_tags';
  /** Its number in `past_rows`. */
  number: number;
  /** Whether rows that stood at the moment are there no more. */
  gone: boolean;
  /** Whether rows were made since. */
  made: boolean;
  /** Every field that changed in some row. */
  fields: ReadonlySet<string>;
}

/**
 * Gathers what was written after a position, once, as `past_rows`: for each row whether it stood
 * at the position (`existed`), whether it did and is no more (`gone`), the first change of each field since, and
 * what the deletion told beside the changes. So work grows with what was written since and not with the inventory.
 */
export async function collectTouched(
  sql: Knex.Transaction,
  position: number,
  scope: PastScope = {},
): Promise<TouchedTable[]> {
  const { reads } = scope;
  // the database's workers cannot read a temporary table; this one is nobody else's and goes when the transaction does,
  // which is taken back
  const table = `public.past_rows_${randomUUID().replaceAll('-', '')}`;
  // sorting the groups' events once more would take longer than all the rest. Sorting by row would mix the order up in which
  // the events come: with few of them it looks as cheap as hashing. And each part is one worker's from end to end, so that
  // they go on side by side: to share out the reading of one part at a time looks cheaper, as nobody knows how many there are
  await sql.raw(`set local enable_sort = off;
    set local min_parallel_table_scan_size = '1TB'; set local min_parallel_index_scan_size = '1TB'`);
  const few = fewFields(reads);
  const parts = Array.from({ length: PARTS }, (_, part) =>
    few ? partOfFew(few, part, position, scope) : partOfAny(part, position, scope),
  );
  await sql.raw(
    `create unlogged table ${table} as ${parts.map((part) => part.sql).join(' union all ')}`,
    parts.flatMap((part) => part.bindings) as never,
  );
  // unique as a whole, so that a join falls away where a query reads no column that has changed; a part of an index does
  // not tell that. Ids are sorted sooner where they come first; of many tables, those of a small one are found sooner then
  await sql.raw(`set local enable_sort to default;
    set local min_parallel_table_scan_size to default; set local min_parallel_index_scan_size to default;
    create unique index on ${table} (${few ? 'id, number' : 'number, id'});
    set local default_statistics_target = 10;
    analyze ${table} (number, id, existed, gone);
    set local default_statistics_target to default;
    create temporary view past_rows as select * from ${table}`);
  const { rows } = await sql.raw(few ? touchedFew(few) : touchedAny(reads));
  const touched: TouchedTable[] = rows.map(
    (row: { number: number; gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      fields: new Set(row.fields),
      table: pastTables[row.number] ?? 'card_tags',
    }),
  );
  for (const [number, table] of pastTables.entries()) {
    if (
      !isRead(table, reads) ||
      !readsStamps(columnsRead(table, reads)) ||
      touched.some((one) => one.number === number)
    )
      continue;
    touched.push({ table, number, gone: false, made: false, fields: new Set() });
  }
  return touched;
}

/** What `past_rows` holds of each table, where a few fields are columns. */
function touchedFew(fields: readonly string[]): string {
  // none of a row that was made since matters
  const found = fields.map(
    (field) => `case when count(${fieldColumn(field)}) filter (where existed) > 0 then ${literal(field)} end`,
  );
  return `select number, bool_or(gone) as gone, bool_or(not existed) as made,
      array_remove(array[${found.join(', ')}]::text[], null) as fields
    from past_rows group by number`;
}

/** What `past_rows` holds of each table. Looking for the fields that are read is much quicker than listing all. */
function touchedAny(reads: Reads | undefined): string {
  const known = pastTables.map((table) => fieldsRead(table, reads));
  const listed = known.flatMap((fields, number) => (fields ? [number] : []));
  const found = [...new Set(known.flatMap((fields) => fields ?? []))].map(
    (field) =>
      `case when bool_or(existed and jsonb_exists(changes, ${literal(field)})) then ${literal(field)} end`,
  );
  return `select p.number, p.gone, p.made, p.found || coalesce(f.fields, '{}') as fields
     from (
       select number, bool_or(gone) as gone, bool_or(not existed) as made,
         array_remove(array[${found.join(', ')}]::text[], null) as found
       from past_rows group by number
     ) p
     left join (
       select number, array_agg(field) as fields
       from (
         select distinct number, jsonb_object_keys(changes) as field from past_rows
         where existed and number <> all('{${listed.join(',')}}'::smallint[])
       ) listed group by number
     ) f using (number)`;
}
