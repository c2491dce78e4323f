import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { BPM_TOPIC, type DiagramRow, type FlowRow, type LinkRow, PROCESS } from './bpm.types.ts';
import { followApprovers } from './flow.approvers.ts';

const ofProcess = (id: string) => ({ card_id: id, card_type: PROCESS });

/** The event of a saved diagram, or of one that was deleted, in the history of its process. */
export function diagramEvent(row: DiagramRow, gone = false, more: Record<string, unknown> = {}): EventDraft {
  return {
    event_type: gone ? 'process_diagram.deleted' : 'process_diagram.saved',
    ...ofProcess(row.process_id),
    data: {
      id: row.id,
      version: row.version,
      ...more,
      changes: gone ? rowChanges(row, null) : rowChanges(null, row),
    },
  };
}

/** The event of what an element is linked to: in force, or planned by a flow version. */
export function linkEvent(before: LinkRow | null, after: LinkRow | null): EventDraft {
  const { id, process_id, bpmn_element_id, flow_version_id } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `process_element_link.${kind}`,
    ...ofProcess(process_id),
    data: { id, bpmn_element_id, flow_version_id, changes: rowChanges(before, after) },
  };
}

export type FlowStep = 'submitted' | 'approved' | 'rejected' | 'archived';

/** The event of a written flow version; `recipients` are told of it. */
export function flowEvent(
  before: FlowRow | null,
  after: FlowRow | null,
  step?: FlowStep,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, process_id, revision } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : (step ?? 'updated');
  return {
    event_type: `process_flow.${kind}`,
    ...ofProcess(process_id),
    data: { id, revision, ...more, changes: rowChanges(before, after) },
  };
}

/** The event of a written assessment. */
export function assessmentEvent(before: StoredRow | null, after: StoredRow | null): EventDraft {
  const { id, process_id } = (after ?? before) as { id: string; process_id: string };
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `process_assessment.${kind}`,
    ...ofProcess(process_id),
    data: { id, changes: rowChanges(before, after) },
  };
}

const topics = () => [BPM_TOPIC];
const plain = (entity: string, table: string, kind: string, steps: FlowStep[] = []): UndoSpec => ({
  entity,
  table,
  events: {
    created: [`${kind}.created` as EventType],
    updated: [`${kind}.updated`, ...steps.map((step) => `${kind}.${step}`)] as EventType[],
    deleted: [`${kind}.deleted` as EventType],
  },
});

export const bpmUndo: UndoSpec[] = [
  {
    entity: 'process diagram',
    table: 'process_diagrams',
    events: { created: ['process_diagram.saved'], deleted: ['process_diagram.deleted'] },
    topics,
  },
  { ...plain('process element link', 'process_element_links', 'process_element_link'), topics },
  {
    ...plain('process flow', 'process_flow_versions', 'process_flow', [
      'submitted',
      'approved',
      'rejected',
      'archived',
    ]),
    // what waits for its approval again may have other approvers by now
    async settle(work, _ctx, { card_id }) {
      await followApprovers(work, card_id === null ? [] : [card_id]);
      return null;
    },
  },
  plain('process assessment', 'process_assessments', 'process_assessment'),
];
