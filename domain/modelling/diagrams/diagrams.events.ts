import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import type { DiagramRow, LinkRow } from './diagrams.types.ts';

/** Whom an event of a diagram is for, where that is, or was until then, its maker's alone. */
function audience(...rows: (DiagramRow | null)[]): Pick<EventDraft, 'scope' | 'recipient_id'> {
  const owner = rows.find((row) => row?.private_to)?.private_to;
  return owner ? { scope: 'user', recipient_id: owner } : {};
}

/** The event of a written diagram. The drawing is told by its fingerprint. */
export function diagramEvent(before: DiagramRow | null, after: DiagramRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `diagram.${kind}`,
    ...audience(before, after),
    data: { id, name, changes: rowChanges(before, after) },
  };
}

/**
 * The event of a card that was linked to a diagram or, with `gone`, unlinked; in the card's history.
 * @param owner the maker of a diagram that nobody else sees.
 */
export function linkEvent(
  card: { id: string; type: string },
  row: LinkRow,
  gone: boolean,
  owner: string | null,
): EventDraft {
  return {
    event_type: gone ? 'diagram.unlinked' : 'diagram.linked',
    ...(owner ? { scope: 'user', recipient_id: owner } : {}),
    card_id: card.id,
    card_type: card.type,
    data: {
      id: row.id,
      diagram_id: row.diagram_id,
      changes: gone ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}

/** The event of a written group. */
export function groupEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return { event_type: `diagram_group.${kind}`, data: { id, name, changes: rowChanges(before, after) } };
}

/** The event of a diagram that somebody starred, or no longer stars. Nobody else is told what one stars. */
export function diagramFavoriteEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, user_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'diagram_favorite.created' : 'diagram_favorite.deleted',
    recipient_id: user_id as string,
    data: { id, changes: rowChanges(before, after) },
  };
}

export const diagramUndo: UndoSpec[] = [
  {
    entity: 'diagram',
    table: 'diagrams',
    events: {
      created: ['diagram.created'],
      updated: ['diagram.updated'],
      deleted: ['diagram.deleted'],
    },
  },
  {
    entity: 'diagram link',
    table: 'diagram_cards',
    events: { created: ['diagram.linked'], deleted: ['diagram.unlinked'] },
  },
  {
    entity: 'diagram group',
    table: 'diagram_groups',
    events: {
      created: ['diagram_group.created'],
      updated: ['diagram_group.updated'],
      deleted: ['diagram_group.deleted'],
    },
  },
  {
    entity: 'diagram favorite',
    table: 'diagram_favorites',
    events: { created: ['diagram_favorite.created'], deleted: ['diagram_favorite.deleted'] },
  },
];
