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
} from './as-of.events.ts';
import { asOfTables } from './as-of.tables.ts';

/** The number of `card_tags`; the others have their place in the list. */
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

/** What an attachment that a merge moves may be of the tables that are shown as they were. */
const movable = list(asOfTables.flatMap(({ moves }) => moves ?? []));
/** The row that an event tells of. */
const ROW_ID = `case when e.relation_id is not null then e.relation_id
  when starts_with(e.event_type, 'card.') then e.card_id else (e.data ->> 'id')::uuid end`;
/** Tells rows apart by a number, also before it is known that an id can be read. */
const ROW_HASH = `case when e.relation_id is not null then uuid_hash(e.relation_id)
  when starts_with(e.event_type, 'card.') then uuid_hash(e.card_id) else hashtext(e.data ->> 'id') end`;
const tagId = `coalesce(e.data #>> '{changes,tag_id,new}', e.data #>> '{changes,tag_id,old}')::uuid`;

/**
 * A part of the rows of any table that were written after a position, with the first changes of their fields since as one
 * object.
 */
export function partOfAny(part: number, position: number, scope: AsOfScope): Fragment {
  const events = eventsOfPart(part, ROW_HASH, position, scope);
  return {
    // the aggregates see the events newest first, as the inner query orders them
    sql: `
     select number, case when tag_id is null then id else md5(concat(id, tag_id))::uuid end as id, id as card_id, tag_id,
       existed, existed and deleted as gone, changes, told
     from (
       select e.number, e.id, e.tag_id, ${EXISTED} as existed, ${DELETED} as deleted,
         first_changes(e.changes) as changes, first_changes(e.told) as told
       from (
         select e.position, ${tableNumber()}::smallint as number, ${ROW_ID} as id,
           case when e.event_type in ('tag.added', 'tag.removed') then ${tagId} end as tag_id,
           e.event_type in (${createdTypes}) as created, e.event_type in (${deletedTypes}) as deleted,
           e.data -> 'changes' as changes,
           case when e.event_type in (${deletedTypes}) then e.data - 'changes' end as told
         ${events.sql} and (e.event_type <> 'attachment.moved' or e.data ->> 'entity' in (${movable}))
         order by e.position desc
       ) e
       group by e.number, e.id, e.tag_id
     ) written`,
    bindings: events.bindings,
  };
}
