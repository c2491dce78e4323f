import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { PpmKind, PpmRow } from './ppm.kinds.ts';

/** The event of one written row, in the history of its initiative. Without `before` it was created, without `after` deleted. */
export function ppmEvent(
  { entity, costs, eventMembers = [] }: Pick<PpmKind, 'entity' | 'costs' | 'eventMembers'>,
  card: { id: string; type: string; name: string },
  before: PpmRow | null,
  after: PpmRow | null,
): EventDraft {
  const row = (after ?? before)! as PpmRow & StoredRow;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `${entity}.${verb}` as EventType,
    card_id: card.id,
    card_type: card.type,
    cost_keys: costs ? [...costs] : null,
    data: {
      id: row.id,
      card_name: card.name,
      ...Object.fromEntries(eventMembers.map((member) => [member, row[member] ?? null])),
      changes: rowChanges(before, after),
    },
  };
}
