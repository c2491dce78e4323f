import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { AssessmentRow } from './assessments.model.ts';

/** The event of a written assessment. The session may contain costs, so only users who see costs see it in events. */
export function assessmentEvent(before: AssessmentRow | null, after: AssessmentRow | null): EventDraft {
  const { id, title } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `assessment.${verb}`,
    cost_keys: ['session_data'],
    data: { id, title, changes: rowChanges(before, after) },
  };
}
