import { type Sql, type Transaction, unlessTaken } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Work } from '../kernel/context.ts';
import type { EventType } from '../kernel/events/events.catalogue.ts';
import { rowChanges } from '../kernel/events/row-changes.ts';
import { findRows, insertRow, insertRows, updateRow } from '../kernel/resources/rows.ts';
import { User, type UserRow } from './users.model.ts';

/** Columns that are omitted from events: secrets, and columns that change with every login. */
const NOT_IN_EVENTS = [
  'updated_at',
  'password_hash',
  'token_version',
  'failed_login_attempts',
  'locked_until',
  'last_login',
  'password_login_until',
];

/** The changes of a user's row, as in events. */
export const userChanges = (before: UserRow | null, after: UserRow | null) =>
  rowChanges(before, after, NOT_IN_EVENTS);

/** Locks users in the order of their ids. */
export async function lockUsers(sql: Sql, ids: string[]): Promise<Map<string, UserRow>> {
  const rows = await findRows(sql, User, (query) => query.whereIn('id', ids).orderBy('id').forUpdate());
  return new Map(rows.map((user) => [user.id, user]));
}

/**
 * The active users among the given ones, locked against deletion until the transaction ends, so that rows can reference
 * them.
 */
export async function lockActiveUsers(
  sql: Transaction,
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

/** Adds a user. @throws EstateError `email_taken`. */
export async function insertUser(
  work: Work,
  values: Partial<UserRow>,
  event: UserEvent = { event_type: 'user.created' },
): Promise<UserRow> {
  const user = await unlessTaken(insertRow(work.sql, User, values), addressTaken, 'users_email');
  emitCreated(work, user, event);
  return user;
}

/** Adds users, all with the same columns. @returns them in the given order. @throws EstateError `email_taken`. */
export async function insertUsers(work: Work, rows: readonly Partial<UserRow>[]): Promise<UserRow[]> {
  const users = await unlessTaken(insertRows(work.sql, User, rows), addressTaken, 'users_email');
  for (const user of users) emitCreated(work, user, { event_type: 'user.created' });
  return users;
}

function emitCreated(work: Work, user: UserRow, { event_type, data }: UserEvent): void {
  work.emit({
    event_type,
    // A user who registers is not logged in.
    ...(event_type.startsWith('auth.') ? { user_id: user.id } : {}),
    data: { ...identity(user), ...data, changes: userChanges(null, user) },
  });
  work.raise('users');
}

/**
 * Changes a locked user; its event contains the differences.
 * @param options.revokes whether the access tokens of all logins are revoked.
 * @throws EstateError `email_taken`.
 */
export async function updateUser(
  work: Work,
  before: UserRow,
  values: Partial<UserRow>,
  options: { revokes?: boolean; event?: UserEvent } = {},
): Promise<UserRow> {
  const changes = { ...values, ...(options.revokes && { token_version: before.token_version + 1 }) };
  const write = updateRow(work.sql, User, { id: before.id }, changes);
  const after = await unlessTaken(write, addressTaken, 'users_email');
  emitUpdate(work, before, after, options.event);
  work.raise('users');
  return after;
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

const addressTaken = () => new EstateError('email_taken', 'There is an account with this e-mail address.');
