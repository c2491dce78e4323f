import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** A write of a bookmark, told to its owner alone: a view may be private. */
export function bookmarkEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `bookmark.${kind}`,
    recipient_id: owner_id as string,
    data: { id, name, changes: rowChanges(before, after) },
  };
}

export const bookmarkUndo: UndoSpec[] = [
  {
    entity: 'bookmark',
    table: 'bookmarks',
    events: {
      created: ['bookmark.created'],
      updated: ['bookmark.updated'],
      deleted: ['bookmark.deleted'],
    },
  },
];
