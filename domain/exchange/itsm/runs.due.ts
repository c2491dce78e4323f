import { query, type Sql } from '../../../platform/database.ts';

/** Mappings with a deferred scheduled run that can start now. */
export async function listDueMappings(sql: Sql): Promise<string[]> {
  return await query(sql)
    .column<string>`select m.id from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     where m.due_at is not null and m.is_active and c.is_active
       and not exists (select from itsm_runs r where r.mapping_id = m.id and r.status in ('queued', 'running', 'review'))
     order by m.due_at, m.id`;
}

/** Cancels the deferred scheduled run of a mapping. */
export async function clearDue(sql: Sql, mappingId: string): Promise<void> {
  await sql('itsm_mappings').where({ id: mappingId }).update({ due_at: null });
}

/** A mapping for which changes in the inventory start runs. */
interface Follower {
  id: string;
  card_type_key: string;
  /** Changes up to this position are processed. */
  position: number;
  /** Whether it has an open run; then its changes are processed later. */
  busy: boolean;
}

/** The active mappings that follow changes and have run before. */
export async function listFollowers(sql: Sql): Promise<Follower[]> {
  return await query(sql)
    .rows`select m.id, m.card_type_key, greatest(b.local_position, m.followed_position) as position,
       exists (select from itsm_runs r where r.mapping_id = m.id and r.status in ('queued', 'running', 'review')) as busy
     from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     join itsm_sync_states b on b.mapping_id = m.id
     where m.follows_changes and m.is_active and c.is_active and m.sync_direction <> 'pull'
       and b.local_position is not null
     order by m.id`;
}

/** The newest position of the change feed. */
export async function readNewestPosition(sql: Sql): Promise<number> {
  return await query(sql).value`select coalesce(max(position), 0) as position from events`;
}

/**
 * Whether cards of the type or their relations have changed between two positions, other than by the mapping's own runs.
 */
export async function hasChanged(
  sql: Sql,
  { id, card_type_key }: Follower,
  after: number,
  to: number,
): Promise<boolean> {
  return await query(sql).value`select exists (
       select from events e where e.position > ${after} and e.position <= ${to}
         and (e.card_type = ${card_type_key} and (e.event_type like 'card.%' or e.event_type like 'relation.%')
           or e.peer_card_type = ${card_type_key} and e.event_type like 'relation.%' and e.relation_type in (
             select substr(f.card_field, length('reverse_relations.') + 1) from itsm_field_mappings f
             where f.mapping_id = ${id} and f.card_field like 'reverse\\_relations.%'))
         and not exists (select from itsm_runs r where r.mapping_id = ${id} and r.job_id = e.job_id)
     ) as changed`;
}

/** Stores the position up to which changes have started a run, so that a failed run is not started again for them. */
export async function storeFollowedPosition(sql: Sql, id: string, position: number): Promise<void> {
  await sql('itsm_mappings').where({ id }).update({ followed_position: position });
}
