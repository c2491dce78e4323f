import type { Caller } from '../context.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import { may } from '../permissions/policy.ts';
import type { EventType, eventTypes } from './events.types.ts';

/** The part before the dot of the event types that viewers of the inventory may see. */
type InventoryKind = {
  [T in EventType]: (typeof eventTypes)[T] extends 'inventory'
    ? T extends `${infer K}.${string}`
      ? K
      : never
    : never;
}[EventType];

/**
 * The permission, or all of them, that reading an event takes besides seeing the inventory and the event's card; `null`
 * where it takes no other. A kind of event without an entry does not compile.
 */
const kindPermissions: Record<InventoryKind, AppPermission | readonly AppPermission[] | null> = {
  card: null,
  attachment: null,
  relation: null,
  stakeholder: 'stakeholders.view',
  comment: 'comments.view',
  todo: null,
  document: 'documents.view',
  file: 'documents.view',
  tag: null,
  tag_group: null,
  card_type: null,
  relation_type: null,
  stakeholder_role: null,
  principle: null,
  regulation: null,
  resource_type: null,
  survey: 'surveys.manage',
  survey_response: 'surveys.manage',
  web_portal: 'web_portals.manage',
  compliance_finding: ['compliance.view', 'grc.view'],
  modernization_decision: 'ai_analysis.view',
  diagram: 'diagrams.view',
  diagram_group: 'diagrams.view',
  ppm_report: 'ppm.view',
  ppm_cost_line: 'ppm.view',
  ppm_budget_line: 'ppm.view',
  ppm_risk: 'ppm.view',
  ppm_wbs: 'ppm.view',
  ppm_task: 'ppm.view',
  ppm_task_comment: 'ppm.view',
  ppm_dependency: 'ppm.view',
  risk: 'risks.view',
  risk_mitigation_task: 'risks.view',
  process_diagram: 'bpm.view',
  process_element_link: 'bpm.view',
  process_flow: 'bpm.view',
  process_assessment: 'bpm.assessments',
  adr: 'adr.view',
  adr_card: 'adr.view',
  soaw: 'soaw.view',
  assessment: 'ai_analysis.view',
  calculation: null,
};

/** The same by the kind of any event; events outside the inventory are kept from others by their scope. */
const permissionsOf = new Map<string, readonly AppPermission[]>(
  Object.entries(kindPermissions).map(([kind, needed]) => [kind, needed === null ? [] : [needed].flat()]),
);

const isKept = (caller: Caller, kind: string): boolean =>
  (permissionsOf.get(kind) ?? []).some((permission) => !may(caller, permission));

/** Whether the caller lacks a permission that events of this type need besides that for their card. */
export function isGuarded(caller: Caller, eventType: string): boolean {
  return isKept(caller, eventType.slice(0, eventType.indexOf('.')));
}

/** The same as an SQL condition over the alias `e` of `events`, with a leading `and`; empty where nothing is kept back. */
export function unguarded(caller: Caller): string {
  const hidden = [...permissionsOf.keys()].filter((kind) => isKept(caller, kind));
  if (hidden.length === 0) return '';
  return `and split_part(e.event_type, '.', 1) not in (${hidden.map((kind) => `'${kind}'`).join(', ')})`;
}
