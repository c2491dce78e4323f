import Type from 'typebox';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** A session about a target architecture. */
export class Assessment extends rowModel('assessments', {
  id: Uuid,
  title: Type.String({ minLength: 1, maxLength: 200 }),
  requirement: Type.String({ minLength: 1, maxLength: 20_000 }),
  status: Choice(['saved', 'committed'], '`committed`: an initiative was created from it'),
  session_data: OpenObject,
  initiative_id: Nullable(Uuid),
  decision_draft: Nullable(Type.String({ description: 'Markdown; set when it was committed' })),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type AssessmentRow = RowOf<typeof Assessment>;

/** The event of a written assessment. The session may contain costs, so events only show it to users who may see costs. */
export function assessmentEvent(before: AssessmentRow | null, after: AssessmentRow | null): EventDraft {
  const { id, title } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `assessment.${verb}`,
    cost_keys: ['session_data'],
    data: { id, title, changes: rowChanges(before, after) },
  };
}
