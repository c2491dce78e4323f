import { type EventDraft, rowChanges, rowEvent } from '../../kernel/events/row-changes.ts';
import { type AssessmentRow, type DiagramRow, type FlowRow, type LinkRow, PROCESS } from './bpm.model.ts';

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
  const data = { id, bpmn_element_id, flow_version_id };
  return { ...rowEvent('process_element_link', before, after, data), ...ofProcess(process_id) };
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
  return {
    ...rowEvent('process_flow', before, after, { id, revision, ...more }),
    ...ofProcess(process_id),
    ...(step && { event_type: `process_flow.${step}` }),
  };
}

/** The event of a written assessment. */
export function assessmentEvent(before: AssessmentRow | null, after: AssessmentRow | null): EventDraft {
  const { id, process_id } = (after ?? before)!;
  return { ...rowEvent('process_assessment', before, after, { id }), ...ofProcess(process_id) };
}
