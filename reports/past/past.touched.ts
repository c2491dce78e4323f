import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { EventType } from '../../domain/events/events.types.ts';
import { columnsRead, fieldColumn, fieldsRead, type Reads, readsStamps } from './past.reads.ts';
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

/** Of which types cards and relations are shown as they were; absent: of all. Those of others are not to be read. */
export interface PastScope {
  cardTypes?: string[];
  relationTypes?: string[];
  /** Which columns of cards and relations are read; absent: any. */
  reads?: Reads;
}

/** The number of `card_tags`; the others have their place in the list. */
const CARD_TAGS = pastTables.length;

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const list = (types: EventType[]) => types.map(literal).join(', ');

/** The number of the table that an event writes to. */
function tableNumber(): string {
  const cases = pastTables.map(({ created, updated, deleted }, number) => {
    const types = list([...created, ...updated, ...deleted]);
    return `when e.event_type in (${types}) then ${number}`;
  });
  const moves = pastTables.map(({ moves }, number) => (moves ? `when ${literal(moves)} then ${number}` : ''));
  return `case ${cases.join('\n')}
    when e.event_type in ('tag.added', 'tag.removed') then ${CARD_TAGS}
    when e.event_type = 'attachment.moved' then case e.data ->> 'entity' ${moves.join(' ')} end end`;
}

const createdTypes = list([...pastTables.flatMap(({ created }) => created), 'tag.added']);
const deletedTypes = list([...pastTables.flatMap(({ deleted }) => deleted), 'tag.removed']);
const movable = pastTables.flatMap(({ moves }) => (moves ? [literal(moves)] : [])).join(', ');
/** The row that an event tells of. */
const ROW_ID = `case when e.relation_id is not null then e.relation_id
  when starts_with(e.event_type, 'card.') then e.card_id else (e.data ->> 'id')::uuid end`;
/** Tells rows apart by a number, also before it is known that an id can be read. */
const ROW_HASH = `case when e.relation_id is not null then uuid_hash(e.relation_id)
  when starts_with(e.event_type, 'card.') then uuid_hash(e.card_id) else hashtext(e.data ->> 'id') end`;
/** Rows are gathered in so many parts, side by side; a power of two. */
const PARTS = 2;
/** Of all events of a row: the first is not that it was made. */
const EXISTED = 'min(e.position * 2 + e.created::int) % 2 = 0';
const tagId = `coalesce(e.data #>> '{changes,tag_id,new}', e.data #>> '{changes,tag_id,old}')::uuid`;

/** Fields by whose change an update of a table may be told apart from others; of those of no field nothing is read. */
const updates = (reads: Reads | undefined) =>
  pastTables.map((table) => ({ ...table, fields: fieldsRead(table, reads) }));

/** The types of events that may have changed what is read. */
const typesRead = (reads: Reads | undefined): EventType[] => [
  ...updates(reads).flatMap(({ created, updated, deleted, fields }) => [
    ...created,
    ...(fields?.length === 0 ? [] : updated),
    ...deleted,
  ]),
  'tag.added',
  'tag.removed',
  'attachment.moved',
];

/** Whether an event of these types belongs to a part and changed what is read: the part first, which is told at once. */
function isOfPart(n: number, reads: Reads | undefined): string {
  const changed = updates(reads).flatMap(({ updated, fields }) =>
    fields && fields.length > 0
      ? [
          `when e.event_type in (${list(updated)})
           then jsonb_exists_any(e.data -> 'changes', array[${fields.map(literal).join(', ')}])`,
        ]
      : [],
  );
  return `case when (${ROW_HASH}) & ${PARTS - 1} <> ${n} then false
    ${changed.join('\n')}
    when e.event_type = 'attachment.moved' then e.data ->> 'entity' in (${movable}) else true end`;
}

/** Every field that is known to be read of some table. */
const knownFields = (reads: Reads | undefined): string[] => [
  ...new Set(pastTables.flatMap((table) => fieldsRead(table, reads) ?? [])),
];

/** The first changes of a row: where a few fields are read, each is a column, small and looked at without a search. */
function keptChanges(reads: Reads | undefined): string {
  const known = pastTables.flatMap((table, number) => (fieldsRead(table, reads) ? [number] : []));
  if (known.length === 0) return 'changes';
  const columns = knownFields(reads).map((field) => `changes -> ${literal(field)} as ${fieldColumn(field)}`);
  return [`case when number not in (${known.join(', ')}) then changes end as changes`, ...columns].join(', ');
}

/**
 * Gathers what was written after a position, once, as `past_rows`: for each row whether it stood
 * at the position (`existed`), whether it did and is no more (`gone`), the first change of each field since, and
 * what the deletion told beside the changes. So work grows with what was written since and not with the inventory.
 */
export async function collectTouched(
  sql: Knex.Transaction,
  position: number,
  { cardTypes, relationTypes, reads }: PastScope = {},
): Promise<TouchedTable[]> {
  const within = (kind: string, column: string, types: string[] | undefined) =>
    types ? `and (not starts_with(e.event_type, '${kind}.') or e.${column} = any(?::text[]))` : '';
  // the database's workers cannot read a temporary table; this one is nobody else's and goes when the transaction does,
  // which is taken back
  const table = `public.past_rows_${randomUUID().replaceAll('-', '')}`;
  // the aggregates see the events newest first, as the inner query orders them; sorting the groups' events once more would
  // take longer than all the rest. Sorting by row would mix the order up: with few events it looks as cheap as hashing. And
  // each part is one worker's from end to end, so that they go on side by side: to share out the reading of one part at a
  // time looks cheaper, as nobody knows how many events there are
  await sql.raw(`set local enable_sort = off;
    set local min_parallel_table_scan_size = '1TB'; set local min_parallel_index_scan_size = '1TB'`);
  const part = (n: number) => `
     select number, case when tag_id is null then id else md5(concat(id, tag_id))::uuid end as id, id as card_id, tag_id,
       existed, existed and deleted as gone, ${keptChanges(reads)}, told
     from (
       select e.number, e.id, e.tag_id,
         ${EXISTED} as existed,
         coalesce(max(case when e.created or e.deleted then e.position * 2 + e.deleted::int end) % 2 = 1, false) as deleted,
         case when ${EXISTED} then first_changes(e.changes) end as changes,
         first_changes(e.told) as told
       from (
         select e.position, ${tableNumber()}::smallint as number, ${ROW_ID} as id,
           case when e.event_type in ('tag.added', 'tag.removed') then ${tagId} end as tag_id,
           e.event_type in (${createdTypes}) as created, e.event_type in (${deletedTypes}) as deleted,
           e.data -> 'changes' as changes,
           case when e.event_type in (${deletedTypes}) then e.data - 'changes' end as told
         from events e where e.position > ? and e.event_type in (${list(typesRead(reads))}) and ${isOfPart(n, reads)}
           ${within('card', 'card_type', cardTypes)} ${within('relation', 'relation_type', relationTypes)}
         order by e.position desc
       ) e
       group by e.number, e.id, e.tag_id
     ) written`;
  const bindings = [position, ...[cardTypes, relationTypes].filter((types) => types !== undefined)];
  await sql.raw(
    `create unlogged table ${table} as ${Array.from({ length: PARTS }, (_, n) => part(n)).join(' union all ')}`,
    Array.from({ length: PARTS }, () => bindings).flat(),
  );
  // unique as a whole, so that a join falls away where a query reads no column that has changed; a part of an index does
  // not tell that
  await sql.raw(`set local enable_sort to default;
    set local min_parallel_table_scan_size to default; set local min_parallel_index_scan_size to default;
    create unique index on ${table} (number, id);
    set local default_statistics_target = 10;
    analyze ${table} (number, id, existed, gone);
    set local default_statistics_target to default;
    create temporary view past_rows as select * from ${table}`);
  const { rows } = await sql.raw(touchedSql(reads));
  const touched: TouchedTable[] = rows.map(
    (row: { number: number; gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      fields: new Set(row.fields),
      table: pastTables[row.number] ?? 'card_tags',
    }),
  );
  for (const [number, table] of pastTables.entries()) {
    if (!readsStamps(columnsRead(table, reads)) || touched.some((one) => one.number === number)) continue;
    touched.push({ table, number, gone: false, made: false, fields: new Set() });
  }
  return touched;
}

/** What `past_rows` holds of each table. Looking for the fields that are read is much quicker than listing all. */
function touchedSql(reads: Reads | undefined): string {
  const listed = pastTables.flatMap((table, number) => (fieldsRead(table, reads) ? [number] : []));
  const found = knownFields(reads).map(
    (field) => `case when count(${fieldColumn(field)}) > 0 then ${literal(field)} end`,
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
         where number <> all('{${listed.join(',')}}'::smallint[])
       ) listed group by number
     ) f using (number)`;
}
