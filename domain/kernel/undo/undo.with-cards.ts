import type { Sql } from '../../../platform/database.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { BatchEvent } from './undo.rows.ts';

/** What is deleted with a card, each row with an event. */
const attached =
  /^(stakeholder|comment|todo|document|file)\.(added|created|uploaded|updated|role_changed|removed|deleted)$|^tag\.(added|removed)$/;
/** What leaves attached rows where they were put: nothing else in a batch moves or needs them. */
const plain =
  /^relation\.|^card\.(created|updated|archived|restored|deleted|approval_status\.\w+)$|^(import|export)\.started$/;

/** Whether what a batch attached to cards of its own may go with them, as far as the kinds of its events tell. */
export function mayGoWithCards(types: EventType[]): boolean {
  return types.includes('card.created') && types.every((type) => attached.test(type) || plain.test(type));
}

/**
 * Of a page of a batch's events, those about things on cards that the batch itself made: they need no undoing of their
 * own, since they go with their cards, in sets. `conflicted` cards may stay, and what is on them is undone one by one.
 */
export async function goingWithCards(
  sql: Sql,
  batchId: string,
  events: BatchEvent[],
  conflicted: ReadonlySet<string>,
): Promise<Set<BatchEvent>> {
  const on = events.filter(
    ({ event_type, card_id }) => card_id && attached.test(event_type) && !conflicted.has(`card/${card_id}`),
  );
  if (on.length === 0) return new Set();
  const { rows } = await sql.raw(
    `select distinct card_id from events
     where batch_id = ?::uuid and event_type = 'card.created' and card_id = any(?::uuid[])`,
    [batchId, [...new Set(on.map(({ card_id }) => card_id))]],
  );
  const made = new Set(rows.map((row: { card_id: string }) => row.card_id));
  return new Set(on.filter(({ card_id }) => made.has(card_id)));
}
