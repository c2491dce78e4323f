import type { Sql } from '../../../platform/database.ts';
import { prepared } from '../../../platform/prepared.ts';

/** A stored event as the readers of the feed receive it. */
export interface FeedRow {
  position: number;
  event_type: string;
  scope: 'inventory' | 'audit' | 'user';
  /** RFC 3339 in UTC. */
  at: string;
  user_id: string | null;
  user_display_name: string | null;
  recipient_id: string | null;
  card_id: string | null;
  card_type: string | null;
  peer_card_id: string | null;
  peer_card_type: string | null;
  relation_id: string | null;
  batch_id: string | null;
  cost_keys: string[] | null;
  data: Record<string, unknown>;
}

/** The next events after a position, of all scopes, in commit order. */
export async function readFeed(sql: Sql, after: number, limit: number): Promise<FeedRow[]> {
  // Prepared, because each API process runs it after every write, and planning takes longer than executing it.
  const { rows } = await prepared(
    sql,
    `select e.position, e.event_type, e.scope, utc(e.at) as at, e.user_id, u.display_name as user_display_name,
            e.recipient_id, e.card_id, e.card_type, e.peer_card_id, e.peer_card_type, e.relation_id, e.batch_id,
            e.cost_keys, e.data
     from events e left join users u on u.id = e.user_id
     where e.position > ? order by e.position limit ?`,
    [after, limit],
  );
  return rows;
}
