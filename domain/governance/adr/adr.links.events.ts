import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { referenceNumber } from './adr.types.ts';

/** A row of `adr_cards` as JSON. */
export interface AdrCardRow extends StoredRow {
  id: string;
  adr_id: string;
  card_id: string;
}

/** The event of a link that was made or removed, in the history of its card. */
export function adrCardEvent(
  card: { id: string; type: string },
  adr: { number: number; title: string } | null,
  before: AdrCardRow | null,
  after: AdrCardRow | null,
): EventDraft {
  const { id, adr_id } = (after ?? before)!;
  return {
    event_type: before === null ? 'adr_card.created' : 'adr_card.deleted',
    card_id: card.id,
    card_type: card.type,
    data: {
      id,
      adr_id,
      ...(adr ? { reference_number: referenceNumber(adr.number), title: adr.title } : {}),
      changes: rowChanges(before, after),
    },
  };
}
