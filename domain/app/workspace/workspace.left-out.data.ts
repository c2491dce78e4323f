/** Why a table stays behind. */
export type LeftOut = { class: 'secret' | 'derived' | 'service'; why: string };

const secret = (why: string): LeftOut => ({ class: 'secret', why });
const service = (why: string): LeftOut => ({ class: 'service', why });

const logins = 'Who logs in, and how, is settled where they log in.';
const scim = 'The identity provider of the service keeps them.';
const itsm = 'Connections hold credentials, and a copy would begin to write to the same remote system.';
const history = 'The history belongs to the service in which it happened.';
const working = 'The service keeps its own work here.';

/** Every table that is no content of the workspace, with the reason. A test misses none. */
export const excludedTables: Readonly<Record<string, LeftOut>> = {
  api_tokens: secret(logins),
  one_time_tokens: secret(logins),
  recovery_codes: secret(logins),
  two_factor: secret(logins),
  sso_identities: secret(logins),
  revoked_tokens: secret(logins),
  web_sessions: secret(logins),
  itsm_connections: secret(itsm),
  extraction_schedules: secret(
    'Schedules hold what opens their destination, and a copy would begin to send.',
  ),
  mails: secret('Links in mails may be secrets.'),

  scim_identities: service(scim),
  throttles: service(working),
  survey_reminders: service(working),
  odata_reads: service(working),
  deprecation_notices: service(working),
  idempotency_keys: service(working),
  topic_versions: service(working),
  list_snapshots: service(working),
  list_snapshot_chunks: service(working),
  jobs: service(working),
  job_schedules: service('When the service does its work is its own affair.'),
  feed_followers: service(working),
  schema_steps: service(working),
  import_card_rows: service(working),
  import_card_plan: service(working),
  import_relation_rows: service(working),
  import_relation_plan: service(working),
  import_cost_rows: service(working),
  import_cost_plan: service(working),
  import_flow_rows: service(working),
  import_flow_plan: service(working),
  import_outcomes: service(working),
  import_warnings: service(working),
  migration_rows: service(working),
  workspace_transfer_rows: service(working),
  workspace_transfer_ids: service(working),
  extraction_runs: service(history),
  notification_mailings: service(working),
  events: service(history),
  mutation_batches: service(history),
  kpi_snapshots: service(history),
  itsm_mappings: service(itsm),
  itsm_field_mappings: service(itsm),
  itsm_relation_mappings: service(itsm),
  itsm_account_limits: service(itsm),
  itsm_sync_states: service(itsm),
  itsm_pairs: service(itsm),
  itsm_links: service(itsm),
  itsm_runs: service(itsm),
  itsm_plan_rows: service(itsm),
  itsm_run_records: service(itsm),
  itsm_run_log: service(itsm),
  itsm_review_items: service(itsm),
  itsm_resolutions: service(itsm),
  itsm_decisions: service(itsm),
  itsm_remote_links: service(itsm),
  itsm_deferred_records: service(itsm),
};
