import type { Knex } from 'knex';
import { query, type Sql, sqlState, violatedConstraint } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Work } from '../kernel/context.ts';
import type { EventType } from '../kernel/events/events.catalogue.ts';
import { rowChanges, type StoredRow } from '../kernel/events/row-changes.ts';

/** A user's row as JSON. */
export interface UserRow extends StoredRow {
  id: string;
  email: string;
  display_name: string;
  role: string;
  password_hash: string | null;
  is_active: boolean;
  locale: string;
  auth_provider: 'local' | 'sso';
  kind: 'person' | 'service';
  token_version: number;
  erased_at: string | null;
}

/** Columns that are omitted from events: secrets, and columns that change with every login. */
const UNTOLD = [
  'updated_at',
  'password_hash',
  'token_version',
  'failed_login_attempts',
  'locked_until',
  'last_login',
  'password_login_until',
];

/** The changes of a user's row, as in events. */
export const userChanges = (before: StoredRow | null, after: StoredRow | null) =>
  rowChanges(before, after, UNTOLD);

/** Locks users in the order of their ids. */
export async function lockUsers(sql: Sql, ids: string[]): Promise<Map<string, UserRow>> {
  const rows = await query(sql).rows`select to_jsonb(u) as row from users u where id = any(${ids}::uuid[])
    order by id for update`;
  return new Map(rows.map(({ row }: { row: UserRow }) => [row.id, row]));
}

/**
 * The active users among the given ones, locked against deletion until the transaction ends, so that rows can reference
 * them.
 */
export async function lockActiveUsers(
  sql: Knex.Transaction,
  ids: readonly string[],
): Promise<Map<string, { id: string; display_name: string }>> {
  const users: { id: string; display_name: string }[] = await sql('users')
    .whereIn('id', ids)
    .where({ is_active: true })
    .orderBy('id')
    .forKeyShare()
    .select('id', 'display_name');
  return new Map(users.map((user) => [user.id, user]));
}

/** The type and data of an event of a user's row. */
export interface UserEvent {
  event_type: EventType;
  /** Further members of its data. */
  data?: Record<string, unknown>;
}

/**
 * Adds users, with an event for each.
 * @throws EstateError `email_taken`.
 */
export async function insertUsers(
  work: Work,
  values: Record<string, unknown>[],
  event: UserEvent = { event_type: 'user.created' },
): Promise<UserRow[]> {
  const rows = await unlessTaken(
    work.sql('users').insert(values).returning(work.sql.raw('to_jsonb(users) as row')),
  );
  const users = rows.map(({ row }) => row as UserRow);
  for (const user of users) {
    work.emit({
      event_type: event.event_type,
      // A user who registers is not logged in.
      ...(event.event_type.startsWith('auth.') ? { user_id: user.id } : {}),
      data: { ...identity(user), ...event.data, changes: userChanges(null, user) },
    });
  }
  work.raise('users');
  return users;
}

/**
 * Changes a locked user; its event contains the differences.
 * @param options.revokes whether the access tokens of all logins are revoked.
 * @throws EstateError `email_taken`.
 */
export async function updateUser(
  work: Work,
  before: UserRow,
  values: Record<string, unknown>,
  options: { revokes?: boolean; event?: UserEvent } = {},
): Promise<void> {
  const rows = await unlessTaken(
    work
      .sql('users')
      .where({ id: before.id })
      .update({
        ...values,
        ...(options.revokes ? { token_version: before.token_version + 1 } : {}),
        updated_at: work.sql.fn.now(),
      })
      .returning(work.sql.raw('to_jsonb(users) as row')),
  );
  emitUpdate(work, before, rows[0]!.row as UserRow, options.event);
  work.raise('users');
}

/** Emits the event of a changed user, if a column that events contain has changed. */
export function emitUpdate(
  work: Work,
  before: UserRow,
  after: UserRow,
  event: UserEvent = { event_type: 'user.updated' },
): void {
  const changes = userChanges(before, after);
  if (Object.keys(changes).length === 0) return;
  work.emit({ event_type: event.event_type, data: { ...identity(after), ...event.data, changes } });
}

/** The members that identify a user in events. */
export const identity = ({ id, email, display_name }: UserRow) => ({ id, email, display_name });

async function unlessTaken(query: Knex.QueryBuilder): Promise<{ row: StoredRow }[]> {
  try {
    return await query;
  } catch (error) {
    if (sqlState(error) !== '23505' || violatedConstraint(error) !== 'users_email') throw error;
    throw new EstateError('email_taken', 'There is an account with this e-mail address.');
  }
}
