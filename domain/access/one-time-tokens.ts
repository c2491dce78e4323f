import { randomSecret, sha256 } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { storeOneTimeTokens } from '../kernel/one-time-tokens.ts';

/** The purposes of mailed tokens, with their lifetimes: an invitation one week, a password reset one hour. */
const mailedTokens = { invitation: { hours: 7 * 24 }, 'password-reset': { hours: 1 } } as const;

export type MailedPurpose = keyof typeof mailedTokens;

/**
 * Creates a token for the user, stored as a hash. A new invitation invalidates the older one. Older password reset
 * tokens remain valid until they expire or a password is set: anyone can request a new one.
 */
export async function issueMailedToken(sql: Sql, purpose: MailedPurpose, userId: string): Promise<string> {
  return (await issueMailedTokens(sql, purpose, [userId]))[0]!;
}

/** {@link issueMailedToken} for many users, in their order. */
export async function issueMailedTokens(
  sql: Sql,
  purpose: MailedPurpose,
  userIds: readonly string[],
): Promise<string[]> {
  const tokens = userIds.map(() => randomSecret());
  if (purpose === 'invitation') {
    await sql('one_time_tokens').where({ purpose }).whereIn('user_id', userIds).delete();
  }
  const seconds = mailedTokens[purpose].hours * 3600;
  const rows = tokens.map((token, n) => ({ hash: sha256(token), purpose, user_id: userIds[n]!, seconds }));
  await storeOneTimeTokens(sql, rows);
  return tokens;
}

/** Ends the tokens with which users set their passwords. */
export async function endMailedTokens(sql: Sql, userIds: readonly string[]): Promise<void> {
  await sql('one_time_tokens').whereIn('user_id', userIds).delete();
}

/**
 * The user of a token.
 * @throws EstateError `not_found` if it is unknown, used or expired, or its user is no longer active.
 */
export async function readTokenUser(
  sql: Sql,
  purpose: MailedPurpose,
  token: string,
): Promise<{ id: string; email: string; display_name: string }> {
  const row = await sql('one_time_tokens as t')
    .join('users as u', 'u.id', 't.user_id')
    .where({ 't.hash': sha256(token), 't.purpose': purpose, 'u.is_active': true })
    .whereRaw('t.expires_at > now()')
    .first('u.id', 'u.email', 'u.display_name');
  if (!row) throw unknownToken();
  return row;
}

/** The error for a mailed token that is not valid. */
export const unknownToken = (): EstateError =>
  new EstateError('not_found', 'The token is not known, was used or has expired.');
