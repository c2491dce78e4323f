import type { Caller } from '../context.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import { may } from '../permissions/policy.ts';

/**
 * Kinds of the inventory's events (the part before the dot) that are told to those alone who may read what they tell
 * of, with the permission for it, or all that it takes.
 */
const guardedKinds: Record<string, AppPermission | readonly AppPermission[]> = {
  adr: 'adr.view',
  adr_card: 'adr.view',
  assessment: 'ai_analysis.view',
  comment: 'comments.view',
  document: 'documents.view',
  file: 'documents.view',
  process_assessment: 'bpm.assessments',
  process_diagram: 'bpm.view',
  process_element_link: 'bpm.view',
  process_flow: 'bpm.view',
  soaw: 'soaw.view',
  stakeholder: 'stakeholders.view',
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
  survey: 'surveys.manage',
  survey_response: 'surveys.manage',
  web_portal: 'web_portals.manage',
};

const isKept = (caller: Caller, kind: string): boolean =>
  [guardedKinds[kind] ?? []].flat().some((permission) => !may(caller, permission));

/** Whether the caller lacks a permission that events of this type need besides that for their card. */
export function isGuarded(caller: Caller, eventType: string): boolean {
  return isKept(caller, eventType.slice(0, eventType.indexOf('.')));
}

/** The same as an SQL condition over the alias `e` of `events`, with a leading `and`; empty where nothing is kept back. */
export function unguarded(caller: Caller): string {
  const hidden = Object.keys(guardedKinds).filter((kind) => isKept(caller, kind));
  if (hidden.length === 0) return '';
  return `and split_part(e.event_type, '.', 1) not in (${hidden.map((kind) => `'${kind}'`).join(', ')})`;
}
