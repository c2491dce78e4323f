import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { AssessmentRow, DiagramRow, FlowRow, LinkRow } from './bpm.model.ts';
import { PROCESS } from './bpm.types.ts';

const ofProcess = (id: string) => ({ card_id: id, card_type: PROCESS });

/** The event of a saved or deleted diagram, in the history of its process. */
export function diagramEvent(
  row: DiagramRow,
  deleted = false,
  more: Record<string, unknown> = {},
): EventDraft {
  return {
    event_type: deleted ? 'process_diagram.deleted' : 'process_diagram.saved',
    ...ofProcess(row.process_id),
    data: {
      id: row.id,
      version: row.version,
      ...more,
      changes: deleted ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}

/** The event of the written links of an element: in force, or planned by a flow version. */
export function linkEvent(before: LinkRow | null, after: LinkRow | null): EventDraft {
  const { id, process_id, bpmn_element_id, flow_version_id } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `process_element_link.${verb}`,
    ...ofProcess(process_id),
    data: { id, bpmn_element_id, flow_version_id, changes: rowChanges(before, after) },
  };
}

export type FlowStep = 'submitted' | 'approved' | 'rejected' | 'archived';

/** The event of a written flow version. @param more further members, such as `recipients` to be notified. */
export function flowEvent(
  before: FlowRow | null,
  after: FlowRow | null,
  step?: FlowStep,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, process_id, revision } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : (step ?? 'updated');
  return {
    event_type: `process_flow.${verb}`,
    ...ofProcess(process_id),
    data: { id, revision, ...more, changes: rowChanges(before, after) },
  };
}

/** The event of a written assessment. */
export function assessmentEvent(before: AssessmentRow | null, after: AssessmentRow | null): EventDraft {
  const { id, process_id } = (after ?? before)!;
  const verb = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `process_assessment.${verb}`,
    ...ofProcess(process_id),
    data: { id, changes: rowChanges(before, after) },
  };
}
