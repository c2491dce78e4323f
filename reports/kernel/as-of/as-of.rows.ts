import type { Knex } from 'knex';
import { partOfAny } from './as-of.any.ts';
import { type AsOfScope, literal, PARTS } from './as-of.events.ts';
import { partOfFew } from './as-of.few.ts';
import { changedFields, gather } from './as-of.gather.ts';
import { fewFields, fieldColumn, fieldsRead, type Reads } from './as-of.reads.ts';
import { asOfTables, type TouchedTable } from './as-of.tables.ts';

/**
 * Gathers what was written after a position, once, as `past_rows`: for each row whether it stood
 * at the position (`existed`), whether it did and is no more (`gone`), the first change of each field since, and
 * what the deletion told beside the changes. So work grows with what was written since and not with the inventory.
 */
export async function collectRows(
  sql: Knex.Transaction,
  position: number,
  scope: AsOfScope,
): Promise<TouchedTable[]> {
  const { reads } = scope;
  const few = fewFields(reads);
  const parts = Array.from({ length: PARTS }, (_, part) =>
    few ? partOfFew(few, part, position, scope) : partOfAny(part, position, scope),
  );
  // each part is one worker's from end to end, so that they go on side by side: to share out the reading of one part at a
  // time looks cheaper, as nobody knows how many there are
  await sql.raw(
    `set local min_parallel_table_scan_size = '1TB'; set local min_parallel_index_scan_size = '1TB'`,
  );
  await gather(sql, 'past_rows', {
    sql: parts.map((part) => part.sql).join(' union all '),
    bindings: parts.flatMap((part) => part.bindings),
    // ids are sorted sooner where they come first; of many tables, those of a small one are found sooner then
    key: few ? 'id, number' : 'number, id',
    counted: 'number, id, existed, gone',
  });
  await sql.raw(
    'set local min_parallel_table_scan_size to default; set local min_parallel_index_scan_size to default',
  );
  const { rows } = await sql.raw(few ? touchedFew(few) : touchedAny(reads));
  return rows.map(
    (row: { number: number; gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      fields: new Set(row.fields),
      table: asOfTables[row.number] ?? 'card_tags',
    }),
  );
}

/** What `past_rows` holds of each table, where a few fields are columns. */
const touchedFew = (fields: readonly string[]): string =>
  `select number, bool_or(gone) as gone, bool_or(not existed) as made, ${changedFields(fields, fieldColumn)}
   from past_rows group by number`;

/** What `past_rows` holds of each table. Looking for the fields that are read is much quicker than listing all. */
function touchedAny(reads: Reads | undefined): string {
  const known = asOfTables.map((table) => fieldsRead(table, reads));
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
