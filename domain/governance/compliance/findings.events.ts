import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import type { FindingRow } from './compliance.types.ts';

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

export const complianceUndo: UndoSpec[] = [
  {
    entity: 'compliance finding',
    table: 'compliance_findings',
    events: {
      created: ['compliance_finding.created'],
      updated: ['compliance_finding.updated'],
      deleted: ['compliance_finding.deleted'],
    },
  },
];
