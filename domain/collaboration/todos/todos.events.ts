import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import type { TodoRow } from '../collaboration.model.ts';
import type { EventCard } from '../items.ts';

/**
 * The event of one written to-do: in its card's history, or, without a card, for its assignee alone. Without `before`
 * it was created, without `after` deleted.
 */
export function todoEvent(card: EventCard | null, before: TodoRow | null, after: TodoRow | null): EventDraft {
  const { id, description, status, due_date, assigned_to, is_system, created_by } = (after ?? before)!;
  const name = card && { card_name: card.name };
  const data = { id, ...name, description, status, due_date, assigned_to, is_system };
  return {
    ...rowEvent('todo', before, after, data),
    ...(card
      ? { card_id: card.id, card_type: card.type }
      : { scope: 'user' as const, recipient_id: assigned_to ?? created_by }),
  };
}
