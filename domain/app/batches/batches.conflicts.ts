import { embed, query, type Sql } from '../../../platform/database.ts';

/** A later write to an object of the batch. */
export interface BatchConflict {
  /** The first part of the event types. */
  entity: string;
  id: string;
  card_id: string | null;
  batch_id: string | null;
  event_type: string;
  position: string;
}

/**
 * Values that are derived from other writes, and are recomputed after a rollback: data quality, sums of lines and
 * calculated attributes.
 */
const following = `array['data_quality'] || array(
  select jsonb_array_elements_text(e.data -> 'rolled_up')) || array(
  select 'attributes.' || f.target_field_key from calculations f
  where f.is_active and f.target_type_key = e.card_type)`;

/** Whether an event, over the alias `e` of `events`, contains only derived values. */
export const FOLLOWS = `(e.event_type = 'card.updated' and (e.data -> 'changes') - (${following}) = '{}')`;

/** Of the events `e`, those after the batch's last write to `m` that count as conflicts; its own are not later. */
const isLater = `e.position > m.last and e.batch_id <> m.batch_id and e.batch_id not in (select id from settled)
  and not ${FOLLOWS}`;

/**
 * The last later event about an object of the batch: LATERAL does one index lookup for each object, since the planner
 * has no statistics on tables that were just filled.
 */
const last = (about: string): string =>
  `select m.entity, m.id, l.* from mine m cross join lateral (
     select e.card_id, e.batch_id, e.event_type, e.position from events e
     where ${about} and ${isLater} order by e.position desc limit 1) l`;

/**
 * Objects of the batch that later writes have changed, each with the last such write. Batches that were rolled back
 * since, their rollbacks, and derived values are not conflicts. For a card that the batch created, every row that was
 * attached to it is one.
 */
export async function findConflicts(sql: Sql, batchId: string): Promise<BatchConflict[]> {
  return await query(sql).rows`with mine as materialized (
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
       select m.entity, m.id, l.* from mine m join cards c on c.parent_id = m.made cross join lateral (
         select e.card_id, e.batch_id, e.event_type, e.position from events e
         where e.card_id = c.id and e.data -> 'changes' -> 'parent_id' ->> 'new' = m.id and ${embed(isLater)}
         order by e.position desc limit 1) l
     )
     select distinct on (t.entity, t.id) t.entity, t.id, t.card_id, t.batch_id, t.event_type,
       t.position::text as position
     from touched t order by t.entity, t.id, t.position desc`;
}
