import { query, type Sql } from '../../../platform/database.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { BatchEvent } from './undo.rows.ts';

/** Rows that are deleted with their card, each with an event. */
const attached =
  /^(stakeholder|comment|todo|document|file)\.(added|created|uploaded|updated|role_changed|removed|deleted)$|^tag\.(added|removed)$/;
/** Events that do not move attached rows: nothing else in a batch moves or needs them. */
const plain =
  /^relation\.|^card\.(created|updated|archived|restored|deleted|approval_status\.\w+)$|^(import|export)\.started$/;

/** Whether the rows that a batch attached to its own cards can be deleted with them, judging by its event types. */
export function canBeDeletedWithCards(types: EventType[]): boolean {
  return types.includes('card.created') && types.every((type) => attached.test(type) || plain.test(type));
}

/**
 * The events, of a page of a batch's events, of rows on cards that the batch created: they need no separate undo, since
 * they are deleted with their cards, in sets. `conflicted` cards may remain, so their rows are undone individually.
 */
export async function deletedWithCards(
  sql: Sql,
  batchId: string,
  events: BatchEvent[],
  conflicted: ReadonlySet<string>,
): Promise<Set<BatchEvent>> {
  const on = events.filter(
    ({ event_type, card_id }) => card_id && attached.test(event_type) && !conflicted.has(`card/${card_id}`),
  );
  if (on.length === 0) return new Set();
  const rows = await query(sql).rows`select distinct card_id from events
     where batch_id = ${batchId}::uuid and event_type = 'card.created'
     and card_id = any(${[...new Set(on.map(({ card_id }) => card_id))]}::uuid[])`;
  const made = new Set(rows.map((row: { card_id: string }) => row.card_id));
  return new Set(on.filter(({ card_id }) => made.has(card_id!)));
}
