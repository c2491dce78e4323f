import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';

// Commands that may remove an administrator run one at a time, so that two cannot remove each other.
const ADMINISTRATORS_LOCK = 7203013;

/** Taken before the users are locked, by every command that may deactivate, demote or remove one. */
export async function lockAdministrators(sql: Sql): Promise<void> {
  await sql.raw('select pg_advisory_xact_lock(?)', [ADMINISTRATORS_LOCK]);
}

/**
 * Whether an active administrator is left without the given users, under the lock of `lockAdministrators`. Service
 * accounts do not count: nobody can log in as one.
 */
export async function administratorLeft(sql: Sql, without: string[]): Promise<boolean> {
  const { rows } = await sql.raw(
    `select exists (select from users where role = 'admin' and is_active and kind = 'person'
                    and id <> all(?::uuid[])) as left`,
    [without],
  );
  return rows[0].left;
}

/** @throws EstateError `conflict` when nobody but the given users is an active administrator. */
export async function requireAnotherAdministrator(sql: Sql, without: string[]): Promise<void> {
  if (await administratorLeft(sql, without)) return;
  throw new EstateError('conflict', 'The last active administrator cannot be removed.');
}
