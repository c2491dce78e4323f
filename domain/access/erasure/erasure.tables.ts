/** A table whose texts may contain names of users. */
export interface TextTable {
  table: string;
  key: string;
  /** Columns written by the service. */
  text?: string[];
  json?: string[];
  /** Columns written by users: only mentions, which contain an id, are replaced. */
  mentions?: string[];
  /** The column with the id of the user whom a row concerns; names are only replaced if it is the erased user. */
  about?: string;
  /** A condition on the rows; absent: all. */
  where?: string;
}

/**
 * The texts in which erasure replaces names and addresses, besides events and the account itself. Texts written by
 * users (cards, comments, documents, surveys and their answers) remain; their author is shown from the account.
 */
export const textTables: TextTable[] = [
  { table: 'notifications', key: 'id', text: ['title', 'message'], about: 'actor_id' },
  { table: 'mails', key: 'id', text: ['recipient'], json: ['content'] },
  {
    table: 'jobs',
    key: 'id',
    text: ['message'],
    json: ['payload', 'result', 'error'],
    about: 'owner_id',
    where: 't.finished_at is not null',
  },
  { table: 'extraction_schedules', key: 'id', json: ['destination'] },
  { table: 'extraction_runs', key: 'id', json: ['destination'] },
  { table: 'comments', key: 'id', mentions: ['content'] },
  { table: 'card_old_values', key: 'position', mentions: ['name'] },
  { table: 'todos', key: 'id', text: ['description'], where: 't.is_system' },
  { table: 'mutation_batches', key: 'id', json: ['summary'], about: 'actor_user_id' },
];

/** Tables with rows that belong to one user: they are deleted. */
export const personalRows: { table: string; column: string; where?: string }[] = [
  { table: 'one_time_tokens', column: 'user_id' },
  { table: 'web_sessions', column: 'user_id' },
  { table: 'two_factor', column: 'user_id' },
  { table: 'sso_identities', column: 'user_id' },
  { table: 'scim_identities', column: 'user_id' },
  { table: 'scim_group_members', column: 'user_id' },
  { table: 'recovery_codes', column: 'user_id' },
  { table: 'idempotency_keys', column: 'user_id' },
  { table: 'notifications', column: 'user_id' },
  { table: 'notification_mailings', column: 'user_id' },
  { table: 'survey_reminders', column: 'user_id' },
  { table: 'odata_reads', column: 'user_id' },
  { table: 'deprecation_notices', column: 'user_id' },
  { table: 'channels', column: 'owner_id', where: 'not is_shared' },
];
