import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';

// Commands that may remove an administrator are serialised, so that two cannot remove each other.
const ADMINISTRATORS_LOCK = 7203013;

/** Acquired before the users are locked, by every command that may deactivate, demote or delete one. */
export async function lockAdministrators(sql: Sql): Promise<void> {
  await query(sql).run`select pg_advisory_xact_lock(${ADMINISTRATORS_LOCK})`;
}

/**
 * Whether an active administrator remains without the given users, under the lock of `lockAdministrators`. Service
 * accounts do not count: they cannot log in.
 */
export async function hasOtherAdministrator(sql: Sql, without: string[]): Promise<boolean> {
  return await query(sql).value`select exists (select from users
    where role = 'admin' and is_active and kind = 'person'
                    and id <> all(${without}::uuid[])) as left`;
}

/** @throws EstateError `conflict` if there is no other active administrator than the given users. */
export async function requireAnotherAdministrator(sql: Sql, without: string[]): Promise<void> {
  if (await hasOtherAdministrator(sql, without)) return;
  throw new EstateError('conflict', 'The last active administrator cannot be removed.');
}
