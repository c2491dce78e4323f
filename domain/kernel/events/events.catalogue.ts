import { invalidField } from '../../../platform/errors.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';

/** The readers of an event: users who can view the inventory, readers of the audit log, or one user. */
export type EventScope = 'inventory' | 'audit' | 'user';

interface EventKind<T extends string> {
  scope: EventScope;
  /** The part of the event types after the first dot. */
  types: readonly T[];
  /** Types of an inventory kind that are only visible in the audit log. */
  auditTypes: readonly T[];
  /** The permissions needed to read them, besides the right to view the inventory and the event's card. */
  permissions: readonly AppPermission[];
}

function inventory<const T extends string>(
  permissions: AppPermission | readonly AppPermission[] | null,
  types: readonly T[],
  auditTypes: readonly T[] = [],
): EventKind<T> {
  return {
    scope: 'inventory',
    types,
    auditTypes,
    permissions: permissions === null ? [] : [permissions].flat(),
  };
}

const audit = <const T extends string>(types: readonly T[]): EventKind<T> => ({
  scope: 'audit',
  types,
  auditTypes: [],
  permissions: [],
});
const user = <const T extends string>(types: readonly T[]): EventKind<T> => ({
  ...audit(types),
  scope: 'user',
});

const written = ['created', 'updated', 'deleted'] as const;

/** Each event type with its readers, by kind of object: the part of the type before the first dot. */
const catalogue = {
  card: inventory(null, [
    'created',
    'updated',
    'archived',
    'restored',
    'deleted',
    'merged',
    'unmerged',
    'approval_status.approve',
    'approval_status.reject',
    'approval_status.reset',
  ]),
  attachment: inventory(null, ['moved']),
  relation: inventory(null, written),
  cost: inventory(null, written),
  relation_cost: inventory(['inventory.view', 'relations.view'], written),
  data_flow: inventory(['inventory.view', 'relations.view'], written),
  stakeholder: inventory('stakeholders.view', ['added', 'removed', 'role_changed']),
  comment: inventory('comments.view', written),
  todo: inventory(null, written),
  document: inventory('documents.view', ['added', 'updated', 'removed']),
  file: inventory('documents.view', ['uploaded', 'updated', 'deleted'], ['downloaded']),
  tag: inventory(null, ['added', 'removed', 'created', 'updated', 'deleted']),
  tag_group: inventory(null, written),
  favorite: user(['created', 'deleted']),
  bookmark: user(written),
  saved_report: user(written),
  deprecation: user(['announced', 'reminded']),
  card_type: inventory(null, written),
  relation_type: inventory(null, written),
  stakeholder_role: inventory(null, written),
  principle: inventory(null, written),
  regulation: inventory(null, written),
  resource_type: inventory(null, written),
  survey: inventory('surveys.manage', ['created', 'updated', 'deleted', 'sent', 'reminded', 'closed']),
  // answers can be ids of related cards
  survey_response: inventory(['surveys.manage', 'relations.view'], written),
  web_portal: inventory('web_portals.manage', written),
  compliance_finding: inventory(['compliance.view', 'grc.view'], written),
  modernization_decision: inventory('ai_analysis.view', written),
  diagram: inventory('diagrams.view', ['created', 'updated', 'deleted', 'linked', 'unlinked']),
  diagram_group: inventory('diagrams.view', written),
  diagram_favorite: user(['created', 'deleted']),
  ppm_report: inventory('ppm.view', written),
  ppm_cost_line: inventory('ppm.view', written),
  ppm_budget_line: inventory('ppm.view', written),
  ppm_risk: inventory('ppm.view', written),
  ppm_wbs: inventory('ppm.view', written),
  ppm_task: inventory('ppm.view', written),
  ppm_task_comment: inventory('ppm.view', written),
  ppm_dependency: inventory('ppm.view', ['created', 'deleted']),
  risk: inventory('risks.view', ['created', 'updated', 'deleted', 'added', 'role_changed', 'removed']),
  risk_mitigation_task: inventory('risks.view', [
    'created',
    'updated',
    'deleted',
    'occurrence_added',
    'occurrence_updated',
    'occurrence_removed',
    'activated',
    'completed',
    'skipped',
  ]),
  process_diagram: inventory('bpm.view', ['saved', 'deleted']),
  process_element_link: inventory('bpm.view', written),
  process_flow: inventory('bpm.view', [
    'created',
    'updated',
    'deleted',
    'submitted',
    'approved',
    'rejected',
    'archived',
  ]),
  process_assessment: inventory('bpm.assessments', written),
  adr: inventory('adr.view', [
    'created',
    'updated',
    'deleted',
    'signatures_requested',
    'signatory_replaced',
    'signed',
    'signatures_recalled',
    'rejected',
  ]),
  adr_card: inventory('adr.view', ['created', 'deleted']),
  soaw: inventory('soaw.view', [
    'created',
    'updated',
    'deleted',
    'signatures_requested',
    'signatory_replaced',
    'signed',
    'signatures_recalled',
    'rejected',
  ]),
  assessment: inventory('ai_analysis.view', written),
  calculation: inventory(null, ['created', 'updated', 'deleted', 'activated', 'deactivated']),
  eol_facts: audit(['loaded']),
  reference_catalogue: audit(['loaded', 'removed']),
  auth: audit([
    'registered',
    'registration_requested',
    'login',
    'login_failed',
    'locked',
    'logout',
    'token_refreshed',
    'ticket_created',
    'password_changed',
    'password_reset_requested',
    'identity_linked',
    'impersonation_started',
    'impersonation_stopped',
    'two_factor_begun',
    'two_factor_enabled',
    'two_factor_disabled',
    'two_factor_reset',
    'recovery_codes_made',
  ]),
  user: audit(['created', 'updated', 'deleted', 'erased', 'invitation_sent', 'provisioned']),
  scim_group: audit(written),
  scim_group_member: audit(['created', 'deleted']),
  api_token: audit(['created', 'deleted']),
  role: audit(['created', 'updated', 'archived', 'restored']),
  settings: audit(['updated', 'secret_changed']),
  import: audit(['started', 'discarded']),
  migration: audit(['uploaded', 'mapped', 'started', 'previewed', 'applied', 'failed', 'deleted']),
  export: audit(['started', 'streamed']),
  report: audit(['started']),
  report_query: audit(['started']),
  extraction_schedule: audit(['created', 'updated', 'deleted', 'paused', 'renamed']),
  extraction_run: audit(['started', 'succeeded', 'failed']),
  itsm_connection: audit(['created', 'updated', 'deleted', 'paused', 'tested']),
  itsm_mapping: audit([
    'created',
    'updated',
    'deleted',
    'renamed',
    'validated',
    'drifted',
    'alerted',
    'recovered',
  ]),
  itsm_pair: audit(['mapped', 'unmapped']),
  itsm_pairs: audit(['relinked']),
  itsm_question: audit(['answered']),
  itsm_run: audit([
    'started',
    'planned',
    'decided',
    'applying',
    'partly_applied',
    'completed',
    'failed',
    'cancelled',
    'superseded',
  ]),
  analysis_run: audit(['started', 'completed', 'failed', 'cancelled']),
  duplicates: audit(['found']),
  duplicate_cluster: audit(['updated']),
  duplicate_decision: audit(written),
  job: audit(['cancelled', 'retried']),
  schedule: audit(['changed']),
  mutation_batch: audit(['opened', 'committed', 'rolled_back']),
  channel: user([...written, 'paused', 'tested']),
  webhook: audit(['created', 'updated', 'deleted', 'secret_rotated', 'paused', 'pinged', 'replayed']),
  notification: user(['created', 'updated', 'read']),
};

type Catalogue = typeof catalogue;
type TypesOf<K extends keyof Catalogue> = Catalogue[K] extends EventKind<infer T> ? `${K}.${T}` : never;
export type EventType = { [K in keyof Catalogue]: TypesOf<K> }[keyof Catalogue];

/** The scope of each event type. */
export const eventTypes = Object.fromEntries(
  Object.entries<EventKind<string>>(catalogue).flatMap(([kind, { scope, types, auditTypes }]) => [
    ...types.map((type) => [`${kind}.${type}`, scope]),
    ...auditTypes.map((type) => [`${kind}.${type}`, 'audit']),
  ]),
) as Readonly<Record<EventType, EventScope>>;

/** The event types of a comma-separated filter. @throws EstateError `validation_failed` for one that does not exist. */
export function eventTypesIn(filter: string): string[] {
  const types = filter.split(',');
  const unknown = types.find((type) => !Object.hasOwn(eventTypes, type));
  if (unknown === undefined) return types;
  throw invalidField('event_type', 'unknown_option', `there is no event type "${unknown}"`);
}

/** The permissions needed to read events of a kind, besides the right to view the inventory and the event's card. */
export const kindPermissions: ReadonlyMap<string, readonly AppPermission[]> = new Map(
  Object.entries<EventKind<string>>(catalogue).map(([kind, { permissions }]) => [kind, permissions]),
);
