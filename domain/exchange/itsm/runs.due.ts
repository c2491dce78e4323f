import type { Sql } from '../../../platform/database.ts';

/** Mappings of which a scheduled run is due, and nothing keeps it from beginning any more. */
export async function listDue(sql: Sql): Promise<string[]> {
  const { rows } = await sql.raw(
    `select m.id from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     where m.due_at is not null and m.is_active and c.is_active
       and not exists (select from itsm_runs r where r.mapping_id = m.id and r.status in ('queued', 'running', 'review'))
     order by m.due_at, m.id`,
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** Lets no scheduled run of the mapping wait any more. */
export async function clearDue(sql: Sql, mappingId: string): Promise<void> {
  await sql('itsm_mappings').where({ id: mappingId }).update({ due_at: null });
}

/** A mapping that changes in the inventory push on their way. */
interface Follower {
  id: string;
  card_type_key: string;
  /** Changes up to here are seen to. */
  position: number;
  /** A run is not over: it is seen to later. */
  busy: boolean;
}

/** The active mappings that follow changes; those that never ran wait for their first run. */
export async function listFollowers(sql: Sql): Promise<Follower[]> {
  const { rows } = await sql.raw(
    `select m.id, m.card_type_key, greatest(b.local_position, m.followed_position) as position,
       exists (select from itsm_runs r where r.mapping_id = m.id and r.status in ('queued', 'running', 'review')) as busy
     from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     join itsm_sync_states b on b.mapping_id = m.id
     where m.follows_changes and m.is_active and c.is_active and m.sync_direction <> 'pull'
       and b.local_position is not null
     order by m.id`,
  );
  return rows;
}

/** Up to where the feed goes. */
export async function newestPosition(sql: Sql): Promise<number> {
  const { rows } = await sql.raw('select coalesce(max(position), 0) as position from events');
  return rows[0].position;
}

/**
 * Whether cards of the type, or relations of theirs, have changed after a position, by others than the mapping's own
 * runs.
 */
export async function hasChanged(
  sql: Sql,
  { id, card_type_key }: Follower,
  after: number,
  to: number,
): Promise<boolean> {
  const { rows } = await sql.raw(
    `select exists (
       select from events e where e.position > ? and e.position <= ?
         and (e.card_type = ? and (e.event_type like 'card.%' or e.event_type like 'relation.%')
           or e.peer_card_type = ? and e.event_type like 'relation.%' and e.relation_type in (
             select substr(f.card_field, length('reverse_relations.') + 1) from itsm_field_mappings f
             where f.mapping_id = ? and f.card_field like 'reverse\\_relations.%'))
         and not exists (select from itsm_runs r where r.mapping_id = ? and r.job_id = e.job_id)
     ) as changed`,
    [after, to, card_type_key, card_type_key, id, id],
  );
  return rows[0].changed;
}

/** Notes that a run was asked for because of the changes up to a position: one that fails is not asked for again. */
export async function storeFollowedPosition(sql: Sql, id: string, position: number): Promise<void> {
  await sql('itsm_mappings').where({ id }).update({ followed_position: position });
}
