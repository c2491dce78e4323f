import type { Knex } from 'knex';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import {
  type AsOfScope,
  createdTypes,
  DELETED,
  deletedTypes,
  EXISTED,
  eventsOfPart,
  list,
  literal,
  PARTS,
} from './as-of.events.ts';
import { gather } from './as-of.gather.ts';
import { collectOldValues, oldValuesOf } from './as-of.old-values.ts';
import { columnsRead, fieldsRead, isRead, type Reads, readsStamps } from './as-of.reads.ts';
import { asOfTables, type TouchedTable } from './as-of.tables.ts';

/** The number of `card_tags`; other tables have their index in the list. */
const CARD_TAGS = asOfTables.length;

/** The number of the table that an event writes to. */
function tableNumber(): string {
  const cases = asOfTables.map(({ created, updated, deleted }, number) => {
    const types = list([...created, ...updated, ...deleted]);
    return `when e.event_type in (${types}) then ${number}`;
  });
  const moves = asOfTables.map(({ moves }, number) => (moves ? `when ${literal(moves)} then ${number}` : ''));
  return `case ${cases.join('\n')}
    when e.event_type in ('tag.added', 'tag.removed') then ${CARD_TAGS}
    when e.event_type = 'attachment.moved' then case e.data ->> 'entity' ${moves.join(' ')} end end`;
}

/** Entities whose rows a merge moves, of the tables with history. */
const movable = list(asOfTables.flatMap(({ moves }) => moves ?? []));
/** The row of an event. */
const ROW_ID = `case when e.relation_id is not null then e.relation_id
  when starts_with(e.event_type, 'card.') then e.card_id else (e.data ->> 'id')::uuid end`;
/** A hash of the row, which needs no valid id. */
const ROW_HASH = `case when e.relation_id is not null then uuid_hash(e.relation_id)
  when starts_with(e.event_type, 'card.') then uuid_hash(e.card_id) else hashtext(e.data ->> 'id') end`;
const tagId = `coalesce(e.data #>> '{changes,tag_id,new}', e.data #>> '{changes,tag_id,old}')::uuid`;

/**
 * A part of the rows of all tables that were written after a position, with the first change of each field as one object.
 */
function partOf(part: number, position: number, scope: AsOfScope): Fragment {
  const events = eventsOfPart(part, ROW_HASH, position, scope);
  return {
    // the aggregates see the events newest first, as the inner query orders them
    sql: `
     select number, case when tag_id is null then id else md5(concat(id, tag_id))::uuid end as id, id as card_id, tag_id,
       existed, existed and deleted as gone, changes, last_values
     from (
       select e.number, e.id, e.tag_id, ${EXISTED} as existed, ${DELETED} as deleted,
         first_changes(e.changes) as changes, first_changes(e.last_values) as last_values
       from (
         select e.position, ${tableNumber()}::smallint as number, ${ROW_ID} as id,
           case when e.event_type in ('tag.added', 'tag.removed') then ${tagId} end as tag_id,
           e.event_type in (${createdTypes}) as created, e.event_type in (${deletedTypes}) as deleted,
           e.data -> 'changes' as changes,
           case when e.event_type in (${deletedTypes}) then e.data - 'changes' end as last_values
         ${events.sql} and (e.event_type <> 'attachment.moved' or e.data ->> 'entity' in (${movable}))
         order by e.position desc
       ) e
       group by e.number, e.id, e.tag_id
     ) written`,
    bindings: events.bindings,
  };
}

/**
 * Collects what was written after a position as `changed_rows`: for each row whether it existed at the position
 * (`existed`), whether it was deleted since (`gone`), the first change of each field since, and the values in the event
 * of its deletion. So the work grows with the writes since and not with the inventory.
 */
async function collectRows(
  sql: Knex.Transaction,
  position: number,
  scope: AsOfScope,
): Promise<TouchedTable[]> {
  const { reads } = scope;
  const parts = Array.from({ length: PARTS }, (_, part) => partOf(part, position, scope));
  // one parallel worker for each part: the planner would rather split the scan of one part at a time
  await sql.raw(
    `set local min_parallel_table_scan_size = '1TB'; set local min_parallel_index_scan_size = '1TB'`,
  );
  await gather(sql, 'changed_rows', {
    sql: parts.map((part) => part.sql).join(' union all '),
    bindings: parts.flatMap((part) => part.bindings),
    key: 'number, id',
    counted: 'number, id, existed, gone',
  });
  await sql.raw(
    'set local min_parallel_table_scan_size to default; set local min_parallel_index_scan_size to default',
  );
  const { rows } = await sql.raw(touchedTables(reads));
  return rows.map(
    (row: { number: number; gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      fields: new Set(row.fields),
      table: asOfTables[row.number] ?? 'card_tags',
    }),
  );
}

/** The tables in `changed_rows`. Testing for the fields that are read is much faster than listing all. */
function touchedTables(reads: Reads | undefined): string {
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
       from changed_rows group by number
     ) p
     left join (
       select number, array_agg(field) as fields
       from (
         select distinct number, jsonb_object_keys(changes) as field from changed_rows
         where existed and number <> all('{${listed.join(',')}}'::smallint[])
       ) listed group by number
     ) f using (number)`;
}

/** Collects what was written after a position to the tables that are read. */
export async function collectTouched(
  sql: Knex.Transaction,
  position: number,
  scope: AsOfScope = {},
): Promise<TouchedTable[]> {
  const { reads } = scope;
  const touched: TouchedTable[] = [];
  const others: Reads | undefined = reads && { ...reads };
  for (const spec of asOfTables) {
    const store = oldValuesOf(spec, reads);
    if (!store) continue;
    touched.push(await collectOldValues(sql, spec, store, position, scope));
    others![store.table] = undefined;
  }
  if ([...asOfTables, 'card_tags' as const].some((table) => isRead(table, others))) {
    touched.push(...(await collectRows(sql, position, { ...scope, reads: others })));
  }
  for (const [number, table] of asOfTables.entries()) {
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
