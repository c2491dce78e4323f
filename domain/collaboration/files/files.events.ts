import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { AttachmentRow } from '../collaboration.model.ts';

/** The event of a file that was attached to a card, or with `gone` deleted. */
export function fileEvent(
  card: { id: string; type: string; name: string },
  row: AttachmentRow,
  gone = false,
): EventDraft {
  return {
    event_type: gone ? 'file.deleted' : 'file.uploaded',
    card_id: card.id,
    card_type: card.type,
    data: {
      id: row.id,
      card_name: card.name,
      name: row.name,
      mime_type: row.mime_type,
      size: row.size,
      category: row.category,
      summary: `The file ${row.name} was ${gone ? 'deleted' : 'uploaded'}`,
      changes: gone ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}
