import type { Knex } from 'knex';
import type { EventType } from '../../domain/events/events.types.ts';
import { type PastTable, pastTables } from './past.tables.ts';

/** A table with rows that were written after the moment. */
export interface TouchedTable {
  table: PastTable | 'card_tags';
  /** Its number in the temporary table. */
  number: number;
  /** Whether rows that stood at the moment are there no more. */
  gone: boolean;
  /** Whether rows were made since. */
  made: boolean;
  /** Every field that changed in some row. */
  fields: ReadonlySet<string>;
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
const allTypes = list([
  ...pastTables.flatMap(({ created, updated, deleted }) => [...created, ...updated, ...deleted]),
  'tag.added',
  'tag.removed',
  'attachment.moved',
]);
const tagId = `coalesce(e.data #>> '{changes,tag_id,new}', e.data #>> '{changes,tag_id,old}')::uuid`;

/**
 * Gathers what was written after a position, once, in the temporary table `past_rows`: for each row whether it stood
 * at the position (`existed`), whether it did and is no more (`gone`), the first change of each field since, and
 * what the deletion told beside the changes. So work grows with what was written since and not with the inventory.
 */
export async function collectTouched(sql: Knex.Transaction, position: number): Promise<TouchedTable[]> {
  // the aggregates see the events newest first, as the inner query orders them: there is nothing between them that would
  // change the order, and sorting the groups' events once more would take longer than all the rest
  await sql.raw(
    `create temporary table past_rows on commit drop as
     select number, id, tag_id, existed, existed and deleted as gone, changes, told
     from (
       select e.number, e.id, e.tag_id,
         coalesce(min(e.position) < min(e.position) filter (where e.created), true) as existed,
         coalesce(max(e.position) filter (where e.deleted) > coalesce(max(e.position) filter (where e.created), 0), false)
           as deleted,
         first_changes(e.changes) as changes, first_changes(e.told) as told
       from (
         select e.position, ${tableNumber()}::smallint as number,
           case when e.relation_id is not null then e.relation_id
                when starts_with(e.event_type, 'card.') then e.card_id else (e.data ->> 'id')::uuid end as id,
           case when e.event_type in ('tag.added', 'tag.removed') then ${tagId} end as tag_id,
           e.event_type in (${createdTypes}) as created, e.event_type in (${deletedTypes}) as deleted,
           e.data -> 'changes' as changes,
           case when e.event_type in (${deletedTypes}) then e.data - 'changes' end as told
         from events e where e.position > ? and e.event_type in (${allTypes})
         order by e.position desc
       ) e
       where e.number is not null
       group by e.number, e.id, e.tag_id
     ) written`,
    [position],
  );
  await sql.raw('analyze past_rows (number, id, tag_id, existed, gone)');
  const { rows } = await sql.raw(
    `select number, bool_or(gone) as gone, bool_or(not existed) as made,
            array(select distinct f.field from past_rows k, jsonb_object_keys(k.changes) f(field)
                  where k.number = p.number and k.existed) as fields
     from past_rows p group by number`,
  );
  const touched = rows.map(
    (row: { number: number; gone: boolean; made: boolean; fields: string[] }): TouchedTable => ({
      ...row,
      fields: new Set(row.fields),
      table: pastTables[row.number] ?? 'card_tags',
    }),
  );
  for (const { number, table } of touched as TouchedTable[]) {
    // unique, so that the join falls away where a query reads no column that has changed
    if (table !== 'card_tags')
      await sql.raw(`create unique index on past_rows (id) where number = ${number}`);
  }
  return touched;
}
