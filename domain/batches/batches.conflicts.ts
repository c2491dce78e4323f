import type { Sql } from '../../platform/database.ts';

/** A later write to what the batch wrote. */
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
 * Objects of the batch that later writes have touched, each with the last such write. Batches that were rolled back
 * since, what rolled them back, and scores that followed by themselves don't count. For a card that the batch made,
 * everything that was put on it counts.
 */
export async function findConflicts(sql: Sql, batchId: string): Promise<BatchConflict[]> {
  const { rows } = await sql.raw(
    `with mine as materialized (
       select split_part(event_type, '.', 1) as entity, data ->> 'id' as id, max(position) as last,
         bool_or(event_type = 'card.created') as made
       from events where batch_id = ?::uuid group by 1, 2
     ),
     settled as (
       select id from mutation_batches where rolled_back_by is not null
       union
       select rolled_back_by from mutation_batches l
       where rolled_back_by is not null and l.id <> ?::uuid
         and exists (select from events e where e.batch_id = l.id and e.position > (select max(last) from mine))
     ),
     later as (
       select e.position, split_part(e.event_type, '.', 1) as entity, e.event_type, e.data ->> 'id' as id,
         e.card_id, e.peer_card_id, e.batch_id, e.data -> 'changes' -> 'parent_id' ->> 'new' as parent_id
       from events e
       where e.position > (select min(last) from mine) and e.batch_id is distinct from ?::uuid
         and e.batch_id is not null and e.batch_id not in (select id from settled)
         and not (e.event_type = 'card.updated' and (e.data -> 'changes') - 'data_quality' = '{}')
     ),
     touched as (
       select m.entity, m.id, l.card_id, l.batch_id, l.event_type, l.position from mine m
         join later l on l.entity = m.entity and l.id = m.id and l.position > m.last
       union all
       select m.entity, m.id, l.card_id, l.batch_id, l.event_type, l.position
       from mine m join (
         select card_id::text as about, l.* from later l where card_id is not null
         union all select peer_card_id::text, l.* from later l where peer_card_id is not null
         union all select parent_id, l.* from later l where parent_id is not null
       ) l on l.about = m.id and l.position > m.last
       where m.made
     )
     select distinct on (t.entity, t.id) t.entity, t.id, t.card_id, t.batch_id, t.event_type,
       t.position::text as position
     from touched t order by t.entity, t.id, t.position desc`,
    [batchId, batchId, batchId],
  );
  return rows;
}
