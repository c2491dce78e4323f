import type { UndoneEvent, UndoRefusal } from './undo.types.ts';

/** One event as the rollback reads it: with all that its opposite has to say as well. */
export interface BatchEvent extends UndoneEvent {
  event_id: string;
  card_type: string | null;
  peer_card_id: string | null;
  peer_card_type: string | null;
  recipient_id: string | null;
  scope: string;
  cost_keys: string[] | null;
}

/** What could not be undone. */
export interface Left extends UndoRefusal {
  event_id: string;
  event_type: string;
  id: string;
  card_id: string | null;
  /** The columns that others have changed since. */
  fields?: string[];
}

export const left = (event: BatchEvent, refusal: UndoRefusal, fields?: string[]): Left => ({
  event_id: event.event_id,
  event_type: event.event_type,
  id: event.id,
  card_id: event.card_id,
  ...refusal,
  ...(fields ? { fields } : {}),
});

export const changedLater = (event: BatchEvent, fields?: string[]): Left =>
  left(event, { code: 'changed_later', message: 'A later batch has changed it.' }, fields);
export const missing = (event: BatchEvent, what: string): Left =>
  left(event, { code: 'missing', message: `The ${what} is no longer there.` });
