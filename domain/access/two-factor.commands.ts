import type { SecretBox } from '../../platform/crypto.ts';
import { query } from '../../platform/database.ts';
import { EstateError, invalidField } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import { requireControlOf, requireSession } from '../kernel/permissions/grants.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { requireRow } from '../kernel/resources/rows.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';
import { continueLogin } from './access.impersonate.ts';
import type { TokenSubject } from './access.login.ts';
import { throttle } from './access.throttle.ts';
import { findCodeStep, newTotpSecret, totpUri } from './access.totp.ts';
import {
  lockTwoFactor,
  openSecret,
  replaceRecoveryCodes,
  sealSecret,
  type TwoFactorRow,
  useCode,
} from './two-factor.store.ts';
import { User, type UserRow } from './users.model.ts';

/** A proof that the request is from the account's owner. */
export interface AccountProof {
  password: string;
  /** Required if a second factor is confirmed. */
  code?: string;
}

/**
 * Starts the set-up of a second factor, or of a replacement; an existing one stays valid until a code of the new one is
 * confirmed.
 * @throws EstateError `session_required`, `wrong_state` for accounts without a password, `validation_failed`.
 */
export async function beginTwoFactor(ctx: Ctx, secrets: SecretBox, proof: AccountProof) {
  const secret = newTotpSecret();
  return await proved(ctx, secrets, proof, async ({ sql, emit }, user) => {
    const pending_secret = sealSecret(secrets, user.id, secret);
    await sql('two_factor').insert({ user_id: user.id, pending_secret }).onConflict('user_id').merge();
    emit({ event_type: 'auth.two_factor_begun', data: { user_id: user.id } });
    const issuer = (await readSetting(sql, 'app_title')) || 'Estate';
    return { secret, otpauth_uri: totpUri(secret, user.email, issuer) };
  });
}

/**
 * Confirms the second factor with a code.
 * @returns recovery codes, which are returned only once, and the data of an unrestricted token.
 * @throws EstateError `session_required`, `wrong_state` if no set-up was started, `validation_failed` naming `code`.
 */
export async function confirmTwoFactor(
  ctx: Ctx,
  secrets: SecretBox,
  code: string,
): Promise<{ recoveryCodes: string[]; subject: TokenSubject }> {
  requireSession(ctx.caller);
  const userId = ctx.caller.userId!;
  await throttle(ctx.db, 'password', [`user ${userId}`]);
  return await command(ctx, async ({ sql, emit, raise }) => {
    const user = await requireRow(sql, User, 'user', { id: userId });
    const factor = await lockTwoFactor(sql, userId);
    if (!factor?.pending_secret) {
      throw new EstateError('wrong_state', 'No second factor was begun, or it is in force already.');
    }
    const secret = openSecret(secrets, userId, factor.pending_secret);
    const step = findCodeStep(secret, code.replace(/\s/g, ''), 0);
    if (step === undefined) throw invalidField('code', 'wrong', 'is not the code that is shown now');
    await query(sql).run`update two_factor set secret = ${factor.pending_secret}, pending_secret = null,
      last_step = ${step}, confirmed_at = now() where user_id = ${userId}`;
    const recoveryCodes = await replaceRecoveryCodes(sql, userId);
    emit({ event_type: 'auth.two_factor_enabled', data: { user_id: userId } });
    raise('users');
    return { recoveryCodes, subject: await endOtherSessions(ctx, sql, user) };
  });
}

/**
 * Removes the caller's second factor and ends the other logins.
 * @throws EstateError `wrong_state` if there is none, or if the workspace requires one; `validation_failed`.
 */
export async function disableTwoFactor(
  ctx: Ctx,
  secrets: SecretBox,
  proof: AccountProof,
): Promise<TokenSubject> {
  return await proved(ctx, secrets, proof, async (work, user, factor) => {
    if (!factor) throw new EstateError('wrong_state', 'No second factor is in force.');
    if (factor.secret && (await readSetting(work.sql, 'two_factor_required'))) {
      throw new EstateError('wrong_state', 'A second factor is required here; begin another one instead.');
    }
    await removeTwoFactor(work, user.id, 'auth.two_factor_disabled');
    return await endOtherSessions(ctx, work.sql, user);
  });
}

/** Replaces the recovery codes and ends the other logins. @throws EstateError as `disableTwoFactor`. */
export async function renewRecoveryCodes(
  ctx: Ctx,
  secrets: SecretBox,
  proof: AccountProof,
): Promise<{ recoveryCodes: string[]; subject: TokenSubject }> {
  return await proved(ctx, secrets, proof, async ({ sql, emit, raise }, user, factor) => {
    if (!factor?.secret) throw new EstateError('wrong_state', 'No second factor is in force.');
    emit({ event_type: 'auth.recovery_codes_made', data: { user_id: user.id } });
    raise('users');
    const recoveryCodes = await replaceRecoveryCodes(sql, user.id);
    return { recoveryCodes, subject: await endOtherSessions(ctx, sql, user) };
  });
}

/**
 * Removes the second factor of a user who has lost it, and ends the account's logins.
 * @throws EstateError `session_required`, `forbidden`, `not_found`, `conflict` for the caller, `wrong_state` if there
 * is none.
 */
export async function resetTwoFactor(ctx: Ctx, userId: string): Promise<void> {
  requireSession(ctx.caller);
  requirePermission(ctx.caller, 'admin.users');
  if (userId === ctx.caller.userId) {
    throw new EstateError('conflict', 'Disable your own second factor with your password and a code.');
  }
  await command(ctx, async (work) => {
    const user = await requireRow(work.sql, User, 'user', { id: userId });
    await requireControlOf(ctx, work.sql, user);
    if (!(await lockTwoFactor(work.sql, userId))) {
      throw new EstateError('wrong_state', 'The user has no second factor.');
    }
    await query(work.sql).run`update users set token_version = ${user.token_version + 1}, updated_at = now()
      where id = ${userId}`;
    await removeTwoFactor(work, userId, 'auth.two_factor_reset');
  });
}

/** Ends all logins of the caller. @returns the data of a token that continues the current login. */
async function endOtherSessions(ctx: Ctx, sql: Work['sql'], user: UserRow): Promise<TokenSubject> {
  await query(sql).run`update users set token_version = ${user.token_version + 1}, updated_at = now()
    where id = ${user.id}`;
  return await continueLogin(ctx, sql, user.token_version);
}

async function removeTwoFactor(
  { sql, emit, raise }: Work,
  userId: string,
  event_type: 'auth.two_factor_disabled' | 'auth.two_factor_reset',
): Promise<void> {
  await sql('two_factor').where({ user_id: userId }).delete();
  await sql('recovery_codes').where({ user_id: userId }).delete();
  emit({ event_type, data: { user_id: userId } });
  raise('users');
}

/** Runs `act` after checking the password and a code of the confirmed second factor. */
async function proved<T>(
  ctx: Ctx,
  secrets: SecretBox,
  proof: AccountProof,
  act: (work: Work, user: UserRow, factor: TwoFactorRow | undefined) => Promise<T>,
): Promise<T> {
  requireSession(ctx.caller);
  const userId = ctx.caller.userId!;
  await throttle(ctx.db, 'password', [`user ${userId}`]);
  const { password_hash: hash } = await ctx.db('users').where({ id: userId }).first('password_hash');
  if (hash === null) {
    throw new EstateError('wrong_state', 'The account has no password, so it has no second factor here.');
  }
  if (!(await ctx.passwords.verify(proof.password, hash))) {
    throw invalidField('password', 'wrong', 'is not the present password');
  }
  return await command(ctx, async (work) => {
    const user = await requireRow(work.sql, User, 'user', { id: userId });
    const factor = await lockTwoFactor(work.sql, userId);
    if (factor?.secret) {
      if (proof.code === undefined) throw invalidField('code', 'required', 'is required');
      if (!(await useCode(work.sql, secrets, factor, proof.code))) {
        throw invalidField('code', 'wrong', 'is not right, or was used already');
      }
    }
    return await act(work, user, factor);
  });
}

/** Whether the caller has a second factor, and whether the workspace requires one. */
export async function readTwoFactor(ctx: Ctx): Promise<Record<string, unknown>> {
  const rows = await query(ctx.db).rows`select utc(confirmed_at) as confirmed_at,
    secret is not null as enabled, pending_secret is not null as pending,
       (select count(*)::int from recovery_codes where user_id = f.user_id) as left
     from two_factor f where user_id = ${ctx.caller.userId}::uuid`;
  const row = rows[0];
  return {
    enabled: row?.enabled ?? false,
    pending: row?.pending ?? false,
    required: await readSetting(ctx.db, 'two_factor_required'),
    confirmed_at: row?.confirmed_at ?? null,
    recovery_codes_left: row?.left ?? 0,
  };
}
