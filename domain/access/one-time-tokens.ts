import { randomSecret, sha256 } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Caller, Ctx } from '../kernel/context.ts';
import { rightsOf } from '../kernel/jobs/jobs.enqueue.ts';
import { storeOneTimeTokens } from '../kernel/one-time-tokens.ts';
import { isPermitted, requireControlOf } from '../kernel/permissions/grants.ts';
import { callerOfOwner, type Owned } from './jobs.owner.ts';

/** The purposes of mailed tokens, with their lifetimes: an invitation one week, a password reset one hour. */
const mailedTokens = { invitation: { hours: 7 * 24 }, 'password-reset': { hours: 1 } } as const;

export type MailedPurpose = keyof typeof mailedTokens;

/**
 * Creates tokens for users, stored as hashes. A new invitation invalidates the older one. Older password reset tokens
 * remain valid until they expire or a password is set: anyone can request a new one.
 * @param shownTo the caller to whom the tokens are shown, see {@link readTokenUser}; absent if they are mailed.
 * @returns the tokens in the order of the users.
 */
export async function issueMailedTokens(
  sql: Sql,
  purpose: MailedPurpose,
  userIds: readonly string[],
  shownTo?: Caller,
): Promise<string[]> {
  const tokens = userIds.map(() => randomSecret());
  if (purpose === 'invitation') {
    await sql('one_time_tokens').where({ purpose }).whereIn('user_id', userIds).delete();
  }
  const seconds = mailedTokens[purpose].hours * 3600;
  const data: Owned | undefined = shownTo && { owner_id: shownTo.userId, rights: rightsOf(shownTo) };
  const rows = tokens.map((token, n) => ({
    ...{ hash: sha256(token), purpose, user_id: userIds[n]!, seconds },
    ...(data && { data }),
  }));
  await storeOneTimeTokens(sql, rows);
  return tokens;
}

/** Ends the tokens with which users set their passwords. */
export async function endMailedTokens(sql: Sql, userIds: readonly string[]): Promise<void> {
  await sql('one_time_tokens').whereIn('user_id', userIds).delete();
}

/**
 * The user of a token. One that was shown to somebody is only valid while that user has all rights of the account, which
 * may have grown since.
 * @throws EstateError `not_found` if it is unknown, used, expired or no longer valid, or its user is no longer active.
 */
export async function readTokenUser(
  ctx: Ctx,
  sql: Sql,
  purpose: MailedPurpose,
  token: string,
): Promise<{ id: string; email: string; display_name: string }> {
  const row = await sql('one_time_tokens as t')
    .join('users as u', 'u.id', 't.user_id')
    .where({ 't.hash': sha256(token), 't.purpose': purpose, 'u.is_active': true })
    .whereRaw('t.expires_at > now()')
    .first('u.id', 'u.email', 'u.display_name', 'u.role', 't.data');
  if (!row) throw unknownToken();
  const { role, data, ...user } = row;
  if ('owner_id' in data && !(await isControlled(ctx, sql, data, { id: user.id, role })))
    throw unknownToken();
  return user;
}

async function isControlled(
  ctx: Ctx,
  sql: Sql,
  owned: Owned,
  account: { id: string; role: string },
): Promise<boolean> {
  return await isPermitted(async () => {
    const caller = await callerOfOwner(sql, owned, 'link', []);
    await requireControlOf({ ...ctx, caller }, sql, account);
  });
}

/** The error for a mailed token that is not valid. */
export const unknownToken = (): EstateError =>
  new EstateError('not_found', 'The token is not known, was used or has expired.');
