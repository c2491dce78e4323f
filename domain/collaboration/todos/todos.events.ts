import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { RecurrenceUnit, TodoStatus } from './todos.rules.ts';

/** A row of `todos` as JSON. */
export interface TodoRow extends StoredRow {
  id: string;
  card_id: string | null;
  description: string;
  status: TodoStatus;
  link: string | null;
  is_system: boolean;
  /** What the service opened it for, with the id of the thing. */
  topic: string | null;
  subject_id: string | null;
  assigned_to: string | null;
  created_by: string | null;
  /** `YYYY-MM-DD` */
  due_date: string | null;
  series_id: string | null;
  recurrence_unit: RecurrenceUnit;
  recurrence_interval: number;
  lead_time_days: number;
  recurrence_day: number | null;
}

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
