/** Every kind of event with who may see it: the inventory's viewers, the audit log's, or one user. */
export const eventTypes = {
  'card.created': 'inventory',
  'card.updated': 'inventory',
  'card.archived': 'inventory',
  'card.restored': 'inventory',
  'card.deleted': 'inventory',
  'card.merged': 'inventory',
  'card.unmerged': 'inventory',
  'attachment.moved': 'inventory',
  'card.approval_status.approve': 'inventory',
  'card.approval_status.reject': 'inventory',
  'card.approval_status.reset': 'inventory',
  'relation.created': 'inventory',
  'relation.updated': 'inventory',
  'relation.deleted': 'inventory',
  'stakeholder.added': 'inventory',
  'stakeholder.removed': 'inventory',
  'stakeholder.role_changed': 'inventory',
  'comment.created': 'inventory',
  'comment.updated': 'inventory',
  'comment.deleted': 'inventory',
  'todo.created': 'inventory',
  'todo.updated': 'inventory',
  'todo.deleted': 'inventory',
  'document.added': 'inventory',
  'document.removed': 'inventory',
  'file.uploaded': 'inventory',
  'file.deleted': 'inventory',
  'tag.added': 'inventory',
  'tag.removed': 'inventory',
  'tag.created': 'inventory',
  'tag.updated': 'inventory',
  'tag.deleted': 'inventory',
  'tag_group.created': 'inventory',
  'tag_group.updated': 'inventory',
  'tag_group.deleted': 'inventory',
  'favorite.created': 'user',
  'favorite.deleted': 'user',
  'bookmark.created': 'user',
  'bookmark.updated': 'user',
  'bookmark.deleted': 'user',
  'saved_report.created': 'user',
  'saved_report.updated': 'user',
  'saved_report.deleted': 'user',
  'card_type.created': 'inventory',
  'card_type.updated': 'inventory',
  'card_type.deleted': 'inventory',
  'relation_type.created': 'inventory',
  'relation_type.updated': 'inventory',
  'relation_type.deleted': 'inventory',
  'stakeholder_role.created': 'inventory',
  'stakeholder_role.updated': 'inventory',
  'stakeholder_role.deleted': 'inventory',
  'principle.created': 'inventory',
  'principle.updated': 'inventory',
  'principle.deleted': 'inventory',
  'regulation.created': 'inventory',
  'regulation.updated': 'inventory',
  'regulation.deleted': 'inventory',
  'resource_type.created': 'inventory',
  'resource_type.updated': 'inventory',
  'resource_type.deleted': 'inventory',
  'survey.created': 'inventory',
  'survey.updated': 'inventory',
  'survey.deleted': 'inventory',
  'survey.sent': 'inventory',
  'survey.closed': 'inventory',
  'survey_response.created': 'inventory',
  'survey_response.updated': 'inventory',
  'survey_response.deleted': 'inventory',
  'calculation.created': 'inventory',
  'calculation.updated': 'inventory',
  'calculation.deleted': 'inventory',
  'calculation.activated': 'inventory',
  'calculation.deactivated': 'inventory',
  'eol_facts.loaded': 'audit',
  'auth.registered': 'audit',
  'auth.login': 'audit',
  'auth.login_failed': 'audit',
  'auth.locked': 'audit',
  'auth.logout': 'audit',
  'auth.token_refreshed': 'audit',
  'auth.ticket_created': 'audit',
  'auth.password_changed': 'audit',
  'auth.password_reset_requested': 'audit',
  'auth.identity_linked': 'audit',
  'auth.impersonation_started': 'audit',
  'auth.impersonation_stopped': 'audit',
  'auth.two_factor_begun': 'audit',
  'auth.two_factor_enabled': 'audit',
  'auth.two_factor_disabled': 'audit',
  'auth.two_factor_reset': 'audit',
  'auth.recovery_codes_made': 'audit',
  'user.created': 'audit',
  'user.updated': 'audit',
  'user.deleted': 'audit',
  'user.erased': 'audit',
  'user.invitation_sent': 'audit',
  'user.provisioned': 'audit',
  'scim_group.created': 'audit',
  'scim_group.updated': 'audit',
  'scim_group.deleted': 'audit',
  'scim_group_member.created': 'audit',
  'scim_group_member.deleted': 'audit',
  'api_token.created': 'audit',
  'api_token.deleted': 'audit',
  'role.created': 'audit',
  'role.updated': 'audit',
  'role.archived': 'audit',
  'role.restored': 'audit',
  'settings.updated': 'audit',
  'settings.secret_changed': 'audit',
  'import.started': 'audit',
  'export.started': 'audit',
  'export.streamed': 'audit',
  'report.started': 'audit',
  'report_query.started': 'audit',
  'extraction_schedule.created': 'audit',
  'extraction_schedule.updated': 'audit',
  'extraction_schedule.deleted': 'audit',
  'extraction_schedule.paused': 'audit',
  'extraction_run.started': 'audit',
  'extraction_run.succeeded': 'audit',
  'extraction_run.failed': 'audit',
  'file.downloaded': 'audit',
  'itsm_connection.created': 'audit',
  'itsm_connection.updated': 'audit',
  'itsm_connection.deleted': 'audit',
  'itsm_connection.tested': 'audit',
  'itsm_mapping.created': 'audit',
  'itsm_mapping.updated': 'audit',
  'itsm_mapping.deleted': 'audit',
  'itsm_mapping.validated': 'audit',
  'itsm_mapping.drifted': 'audit',
  'job.cancelled': 'audit',
  'job.retried': 'audit',
  'schedule.changed': 'audit',
  'mutation_batch.opened': 'audit',
  'mutation_batch.committed': 'audit',
  'mutation_batch.rolled_back': 'audit',
  'webhook.created': 'audit',
  'webhook.updated': 'audit',
  'webhook.deleted': 'audit',
  'webhook.secret_rotated': 'audit',
  'webhook.paused': 'audit',
  'webhook.pinged': 'audit',
  'webhook.replayed': 'audit',
  'notification.created': 'user',
  'notification.updated': 'user',
  'notification.read': 'user',
} as const;

export type EventType = keyof typeof eventTypes;

export interface Change {
  old: unknown;
  new: unknown;
}

/** One event to be recorded; who, when and where from is added by the command. */
export interface EventDraft {
  event_type: EventType;
  /** Where it is another than that of its kind. */
  scope?: (typeof eventTypes)[EventType];
  card_id?: string | null;
  card_type?: string | null;
  /** The other end's card of a relation, in whose history the event shows as well. */
  peer_card_id?: string | null;
  peer_card_type?: string | null;
  relation_id?: string | null;
  relation_type?: string | null;
  /** Whom an event of scope `user` is for; nobody else is shown it. */
  recipient_id?: string | null;
  /** For events before login, where the caller is not yet known. */
  user_id?: string | null;
  /** Keys of `data.changes` (such as `attributes.costTotalAnnual`) whose values are costs. */
  cost_keys?: string[] | null;
  /**
   * Holds what was written as `changes: {field: {old, new}}`, also for created (old is null) and deleted (new is
   * null) objects; attributes as `attributes.<key>`, lifecycle as `lifecycle.<phase>`.
   */
  data: Record<string, unknown>;
}

/** What a position looks like that a client sends, as schemas have it. */
export const POSITION_PATTERN = '^[0-9]{1,16}$';
