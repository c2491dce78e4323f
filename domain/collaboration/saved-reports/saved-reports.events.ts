import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** A write of a saved report, told to its owner alone: it may be private. */
export function savedReportEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, owner_id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `saved_report.${kind}`,
    recipient_id: owner_id as string,
    data: { id, name, changes: rowChanges(before, after) },
  };
}

export const savedReportUndo: UndoSpec[] = [
  {
    entity: 'saved report',
    table: 'saved_reports',
    events: {
      created: ['saved_report.created'],
      updated: ['saved_report.updated'],
      deleted: ['saved_report.deleted'],
    },
  },
];
