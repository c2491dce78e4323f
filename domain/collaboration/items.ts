import { query, type Sql, type Transaction } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { lockActiveUsers } from '../access/users.store.ts';
import type { EventType } from '../kernel/events/events.catalogue.ts';
import { type EventDraft, rowChanges } from '../kernel/events/row-changes.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';

/** An object that a command has written, as its JSON text. */
export interface WrittenItem {
  id: string;
  text: JsonText;
}

/** A card as events of its rows contain it. */
export interface EventCard {
  id: string;
  type: string;
  name: string;
}

/** The event of a row that is attached to a card: without `before` it was added, without `after` deleted. */
export const attachedEvent = (
  event_type: EventType,
  card: EventCard,
  before: { id: string } | null,
  after: { id: string } | null,
  data: Record<string, unknown>,
): EventDraft => ({
  event_type,
  card_id: card.id,
  card_type: card.type,
  data: {
    id: (after ?? before)!.id,
    card_name: card.name,
    ...data,
    changes: rowChanges(before, after),
  },
});

/** An id for a row that refers to itself. */
export const newId = (sql: Sql): Promise<string> => query(sql).value`select uuidv7()`;

/**
 * A user whom a row will name.
 * @throws EstateError `validation_failed` naming the field for an unknown or deactivated user.
 */
export async function requireActiveUser(
  sql: Transaction,
  id: string,
  field: string,
): Promise<{ id: string; display_name: string }> {
  const [user] = (await lockActiveUsers(sql, [id])).values();
  if (!user) throw invalidField(field, 'unknown_user', 'is not an active user');
  return user;
}
