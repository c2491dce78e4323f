/** A table in whose texts people are named. */
export interface TextTable {
  table: string;
  key: string;
  /** Columns that the service has written. */
  text?: string[];
  json?: string[];
  /** Columns that people have written: only their mentions of others, which carry an id. */
  mentions?: string[];
  /** The column with the id of whom a row is about; names are only replaced where it is the person's. */
  about?: string;
  /** Which rows; absent: all. */
  where?: string;
}

/**
 * Where erasure replaces names and addresses, besides events and the account itself. What people have written (cards,
 * comments, documents, surveys and their answers) stays; it shows its author by the account.
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

/** Tables with rows that belong to one person alone: they go. */
export const ownRows: { table: string; column: string }[] = [
  { table: 'one_time_tokens', column: 'user_id' },
  { table: 'two_factor', column: 'user_id' },
  { table: 'sso_identities', column: 'user_id' },
  { table: 'scim_identities', column: 'user_id' },
  { table: 'scim_group_members', column: 'user_id' },
  { table: 'recovery_codes', column: 'user_id' },
  { table: 'idempotency_keys', column: 'user_id' },
  { table: 'notifications', column: 'user_id' },
  { table: 'notification_mailings', column: 'user_id' },
];
