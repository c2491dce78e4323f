import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { DiagramCardRow, DiagramFavoriteRow, DiagramGroupRow, DiagramRow } from './diagrams.model.ts';

/** Events of a diagram that is, or was until then, not public are for its owner alone. */
function audience(owner: string | null | undefined): Pick<EventDraft, 'scope' | 'recipient_id'> {
  return owner ? { scope: 'user', recipient_id: owner } : {};
}

/** The event of a written diagram; it contains the hash of the drawing. */
export function diagramEvent(before: DiagramRow | null, after: DiagramRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `diagram.${verb}`,
    ...audience(before?.private_to ?? after?.private_to),
    data: { id, name, changes: rowChanges(before, after) },
  };
}

/**
 * The event of a card that was linked to a diagram or unlinked, in the history of the card.
 * @param owner the owner of a diagram that is not public.
 */
export function linkEvent(
  card: { id: string; type: string },
  row: DiagramCardRow,
  unlinked: boolean,
  owner: string | null,
): EventDraft {
  return {
    event_type: unlinked ? 'diagram.unlinked' : 'diagram.linked',
    ...audience(owner),
    card_id: card.id,
    card_type: card.type,
    data: {
      id: row.id,
      diagram_id: row.diagram_id,
      changes: unlinked ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}

/** The event of a written group. */
export function groupEvent(before: DiagramGroupRow | null, after: DiagramGroupRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return { event_type: `diagram_group.${verb}`, data: { id, name, changes: rowChanges(before, after) } };
}

/** The event of a favourite that was added or removed; only its user receives it. */
export function favoriteEvent(
  before: DiagramFavoriteRow | null,
  after: DiagramFavoriteRow | null,
): EventDraft {
  const { id, user_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'diagram_favorite.created' : 'diagram_favorite.deleted',
    recipient_id: user_id,
    data: { id, changes: rowChanges(before, after) },
  };
}
