import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { TodoRow } from '../collaboration.model.ts';

/** The card of a to-do as its event names it. */
export interface TodoCard {
  id: string;
  type: string;
  name: string;
}

/**
 * The event of one written to-do: in its card's history, or, without a card, for its assignee alone. Without `before`
 * it was created, without `after` deleted.
 */
export function todoEvent(card: TodoCard | null, before: TodoRow | null, after: TodoRow | null): EventDraft {
  const row = (after ?? before)!;
  return {
    event_type: before === null ? 'todo.created' : after === null ? 'todo.deleted' : 'todo.updated',
    ...(card
      ? { card_id: card.id, card_type: card.type }
      : { scope: 'user' as const, recipient_id: row.assigned_to ?? row.created_by }),
    data: {
      id: row.id,
      ...(card ? { card_name: card.name } : {}),
      description: row.description,
      status: row.status,
      due_date: row.due_date,
      assigned_to: row.assigned_to,
      is_system: row.is_system,
      changes: rowChanges(before, after),
    },
  };
}
