import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { DocumentRow } from '../collaboration.model.ts';

/** The event of a link that was added, or with `gone` removed. */
export function documentEvent(
  card: { id: string; type: string; name: string },
  row: DocumentRow,
  gone = false,
): EventDraft {
  return {
    event_type: gone ? 'document.removed' : 'document.added',
    card_id: card.id,
    card_type: card.type,
    data: {
      id: row.id,
      document_id: row.id,
      card_name: card.name,
      name: row.name,
      url: row.url,
      type: row.type,
      summary: `The link ${row.name} was ${gone ? 'removed' : 'added'}`,
      changes: gone ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}
