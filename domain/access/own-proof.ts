import type { SecretBox } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError, invalidField } from '../../platform/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { lockTwoFactor, useCode } from './two-factor.store.ts';

/** A proof that the request is from the owner of an account, not from somebody with a stolen token. */
export interface OwnerProof {
  current_password?: string;
  /** A code of the authenticator, or a recovery code. */
  code?: string;
}

/** Maximum age of a recent login, in seconds. */
const RECENT_LOGIN_SECONDS = 5 * 60;

/**
 * Checks the given password. It is slow, so it is called before anything is locked.
 * @param hash the hash of the account's password; null if it has none.
 * @throws EstateError `validation_failed` naming `current_password`.
 */
export async function checkPresentPassword(ctx: Ctx, hash: string | null, proof: OwnerProof): Promise<void> {
  if (proof.current_password === undefined) return;
  if (!(await ctx.passwords.verify(proof.current_password, hash))) {
    throw invalidField('current_password', 'wrong', 'is not the present password');
  }
}

/**
 * Requires the current password, which was checked before, or a code of the confirmed second factor. An account without
 * either, such as one of single sign-on, needs a login within the last five minutes.
 * @throws EstateError `validation_failed` naming `current_password` or `code`, `recent_login_required`.
 */
export async function requireOwnerProof(
  ctx: Ctx,
  sql: Sql,
  secrets: SecretBox,
  hash: string | null,
  proof: OwnerProof,
): Promise<void> {
  if (hash !== null && proof.current_password !== undefined) return;
  const factor = await lockTwoFactor(sql, ctx.caller.userId!);
  if (factor?.secret && proof.code !== undefined) {
    if (await useCode(sql, secrets, factor, proof.code)) return;
    throw invalidField('code', 'wrong', 'is not right, or was used already');
  }
  if (hash !== null) throw invalidField('current_password', 'required', 'is required to change this');
  const age = Date.now() / 1000 - (ctx.caller.loginAt ?? 0);
  if (age > RECENT_LOGIN_SECONDS) {
    throw new EstateError(
      'recent_login_required',
      'Log in again: this needs a login of the last five minutes.',
    );
  }
}
