import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { FindingRow } from './compliance.model.ts';

/** The event of one written finding, in the history of its card where it has one. */
export function findingEvent(
  card: { id: string; type: string } | null,
  before: FindingRow | null,
  after: FindingRow | null,
): EventDraft {
  const { id, regulation, regulation_article } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `compliance_finding.${kind}`,
    ...(card ? { card_id: card.id, card_type: card.type } : {}),
    data: { id, regulation, regulation_article, changes: rowChanges(before, after) },
  };
}
