import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** A write of an assessment. What a session holds may tell of costs, and is kept from those who do not see them. */
export function assessmentEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, title } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `assessment.${kind}`,
    cost_keys: ['session_data'],
    data: { id, title, changes: rowChanges(before, after) },
  };
}

/** Undoing the batch that carried a session out makes it a saved one again. */
export const assessmentUndo: UndoSpec[] = [
  {
    entity: 'assessment',
    table: 'assessments',
    events: {
      created: ['assessment.created'],
      updated: ['assessment.updated'],
      deleted: ['assessment.deleted'],
    },
  },
];
