import type { FeedRow } from '../../../domain/kernel/events/feed.read.ts';

/** One event as a server-sent event: `id` is its feed position, `event` its type, `data` one line of JSON. */
export function eventFrame(row: FeedRow) {
  let full: Buffer | undefined;
  let cut: Buffer | undefined;
  return {
    full() {
      full ??= frame(row, row.data);
      return full;
    },
    cut() {
      cut ??= frame(row, withoutCosts(row));
      return cut;
    },
  };
}

function withoutCosts(row: FeedRow): Record<string, unknown> {
  const changes = row.data.changes as Record<string, unknown> | undefined;
  if (!changes || !row.cost_keys) return row.data;
  const hidden = new Set(row.cost_keys);
  return {
    ...row.data,
    changes: Object.fromEntries(Object.entries(changes).filter(([key]) => !hidden.has(key))),
  };
}

function frame(row: FeedRow, data: Record<string, unknown>): Buffer {
  const body = JSON.stringify({
    position: String(row.position),
    event_type: row.event_type,
    card_id: row.card_id,
    peer_card_id: row.peer_card_id,
    relation_id: row.relation_id,
    batch_id: row.batch_id,
    at: row.at,
    actor: row.user_id === null ? null : { id: row.user_id, display_name: row.user_display_name },
    data,
  });
  return Buffer.from(`id: ${row.position}\nevent: ${row.event_type}\ndata: ${body}\n\n`);
}

/** A frame of an event that is not stored. It has no id, so that the client's `Last-Event-ID` does not change. */
export function transientFrame(event: string, data: unknown): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
