import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import {
  type AsOfScope,
  createdTypes,
  DELETED,
  deletedTypes,
  EXISTED,
  eventsOfPart,
  literal,
} from './as-of.events.ts';
import { fieldColumn } from './as-of.reads.ts';
import { asOfTables } from './as-of.tables.ts';

const CARDS = asOfTables.findIndex(({ table }) => table === 'cards');
const RELATIONS = asOfTables.findIndex(({ table }) => table === 'relations');
const ROW_ID = 'coalesce(e.relation_id, e.card_id)';

/**
 * A part of the cards and relations that were written after a position, with the first change of each of a few fields
 * since as a column of its own: small, and looked at without a search.
 */
export function partOfFew(
  fields: readonly string[],
  part: number,
  position: number,
  scope: AsOfScope,
): Fragment {
  const events = eventsOfPart(part, `uuid_hash(${ROW_ID})`, position, scope);
  const columns = fields.map(fieldColumn);
  return {
    // the aggregates see the events oldest first, as the inner query orders them
    sql: `
     select ${['number', 'id', 'existed', 'existed and deleted as gone', 'told', ...columns].join(', ')}
     from (
       select e.number, e.id, ${EXISTED} as existed, ${DELETED} as deleted,
         ${['first_not_null(e.told) as told', ...fields.map((field) => `first_not_null(e.changes -> ${literal(field)}) as ${fieldColumn(field)}`)].join(', ')}
       from (
         select e.position, case when e.relation_id is null then ${CARDS} else ${RELATIONS} end::smallint as number,
           ${ROW_ID} as id,
           e.event_type in (${createdTypes}) as created, e.event_type in (${deletedTypes}) as deleted,
           e.data -> 'changes' as changes,
           case when e.event_type in (${deletedTypes}) then e.data - 'changes' end as told
         ${events.sql}
         order by e.position
       ) e
       group by e.number, e.id
     ) written`,
    bindings: events.bindings,
  };
}
