import Type from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { Nullable, Position, type StaticOf, Uuid } from '../../kernel/shapes.ts';

/** A later write to an object of the batch; `entity` is the first part of the event types. */
export const batchConflict = {
  entity: Type.String(),
  id: Type.String(),
  card_id: Nullable(Uuid),
  batch_id: Nullable(Uuid),
  event_type: Type.String(),
  position: Position,
};
export type BatchConflict = StaticOf<typeof batchConflict>;

const rolledUp = `array(select jsonb_array_elements_text(e.data -> 'rolled_up'))`;
/**
 * Values that are derived from other writes, and are recomputed after a rollback: data quality, sums of lines and
 * calculated attributes.
 */
const following = `array['data_quality'] || ${rolledUp} || array(
  select 'attributes.' || f.target_field_key from calculations f
  where f.is_active and f.target_type_key = e.card_type)`;

/** Whether an event, over the alias `e` of `events`, contains only derived values. */
export const FOLLOWS = `(e.event_type = 'card.updated' and (e.data -> 'changes') - (${following}) = '{}'
  or e.event_type = 'relation.updated' and (e.data -> 'changes') - ${rolledUp} = '{}')`;

/** Of the events `e`, those after the batch's last write to `m` that count as conflicts; its own are not later. */
const isLater = `e.position > m.last and e.batch_id <> m.batch_id and e.batch_id not in (select id from settled)
  and not ${FOLLOWS}`;

/**
 * The last later event about an object of the batch: LATERAL does one index lookup for each object, since the planner
 * has no statistics on tables that were just filled.
 */
const last = (about: string): string =>
  `select m.entity, m.id, m.made, l.* from mine m cross join lateral (
     select e.card_id, e.batch_id, e.event_type, e.position from events e
     where ${about} and ${isLater} order by e.position desc limit 1) l`;

/**
 * Objects of the batch that later writes have changed, each with the last such write. Batches that were rolled back
 * since, their rollbacks, and derived values are not conflicts. For a card that the batch created, every row that was
 * attached to it is one, and so is a conflict of a card below it: the card that stays needs its parents.
 */
export async function findConflicts(sql: Sql, batchId: string): Promise<BatchConflict[]> {
  return await query(sql).rows`with recursive mine as materialized (
       select batch_id, split_part(event_type, '.', 1) as entity, data ->> 'id' as id, max(position) as last,
         case when bool_or(event_type = 'card.created') then (data ->> 'id')::uuid end as made
       from events where batch_id = ${batchId}::uuid group by 1, 2, 3
     ),
     settled as materialized (
       select id from mutation_batches where rolled_back_by is not null
       union
       select rolled_back_by from mutation_batches l
       where rolled_back_by is not null and l.id <> ${batchId}::uuid
         and exists (select from events e
         where e.batch_id = l.id and e.position > (select max(last) from mine))
     ),
     touched as (
       ${embed(last("e.data ->> 'id' = m.id and starts_with(e.event_type, m.entity || '.')"))}
       union all ${embed(last('e.card_id = m.made'))}
       union all ${embed(last('e.peer_card_id = m.made'))}
       union all
       select m.entity, m.id, m.made, l.* from mine m join cards c on c.parent_id = m.made cross join lateral (
         select e.card_id, e.batch_id, e.event_type, e.position from events e
         where e.card_id = c.id and e.data -> 'changes' -> 'parent_id' ->> 'new' = m.id and ${embed(isLater)}
         order by e.position desc limit 1) l
     ),
     -- present parents, and those that undoing updates brings back
     parents as materialized (
       select c.id, c.parent_id from mine m join cards c on c.id = m.made
       union
       select c.id, (e.data -> 'changes' -> 'parent_id' ->> 'old')::uuid
       from events e join mine m on m.made = e.card_id join cards c on c.id = m.made
       where e.batch_id = ${batchId}::uuid and e.event_type = 'card.updated'
     ),
     staying as (
       select t.* from touched t
       union
       select m.entity, m.id, m.made, s.card_id, s.batch_id, s.event_type, s.position
       from staying s join parents p on p.id = s.made join mine m on m.made = p.parent_id
     )
     select distinct on (s.entity, s.id) s.entity, s.id, s.card_id, s.batch_id, s.event_type,
       s.position::text as position
     from staying s order by s.entity, s.id, s.position desc`;
}
