import { query } from '../../platform/database.ts';
import type { Work } from '../kernel/context.ts';
import { revokeApiTokensOf } from './api-tokens.commands.ts';
import { endMailedTokens } from './one-time-tokens.ts';
import type { UserRow } from './users.model.ts';

/**
 * Sets a password for a locked user row: unlocks the account, and revokes its logins, its own tokens and mailed tokens
 * to set a password.
 * @param by the operation that changed it, for the audit log.
 */
export async function storePassword(work: Work, user: UserRow, hash: string, by?: string): Promise<void> {
  const { sql } = work;
  await query(sql).run`update users set password_hash = ${hash}, failed_login_attempts = 0,
    locked_until = null, invited_at = null, token_version = token_version + 1, updated_at = now()
    where id = ${user.id}`;
  await endMailedTokens(sql, [user.id]);
  await revokeApiTokensOf(work, user.id);
  work.emit({ event_type: 'auth.password_changed', data: { user_id: user.id, ...(by ? { by } : {}) } });
  work.raise('users');
}
