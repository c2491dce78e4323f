import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';

/** The event of a card that somebody starred, or no longer stars. Nobody else is told what one stars. */
export function favoriteEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, user_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'favorite.created' : 'favorite.deleted',
    recipient_id: user_id as string,
    data: { id, changes: rowChanges(before, after) },
  };
}
