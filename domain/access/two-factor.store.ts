import type { SecretBox } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { newRecoveryCodes, recoveryCodeHash, stepOfCode } from './access.totp.ts';

/** A user's second factor. */
export interface TwoFactorRow {
  user_id: string;
  /** Sealed; null until it is confirmed. */
  secret: string | null;
  pending_secret: string | null;
  last_step: number;
  /** Wrong codes in a row at logins. */
  failed_codes: number;
  /** Whether wrong codes have locked it. */
  locked: boolean;
}

/** What a sealed secret is bound to. */
const sealedFor = (userId: string): string => `two_factor.${userId}`;

/** The user's second factor, locked. */
export async function lockTwoFactor(sql: Sql, userId: string): Promise<TwoFactorRow | undefined> {
  return await sql('two_factor')
    .where({ user_id: userId })
    .forUpdate()
    .first('*', sql.raw('coalesce(locked_until > now(), false) as locked'));
}

export const sealSecret = (secrets: SecretBox, userId: string, secret: string): string =>
  secrets.seal(secret, sealedFor(userId));

export const openSecret = (secrets: SecretBox, userId: string, sealed: string): string =>
  secrets.open(sealed, sealedFor(userId));

/**
 * Uses a code of the authenticator, or a recovery code, up: neither is taken twice.
 * @returns whether it was right.
 */
export async function useCode(
  sql: Sql,
  secrets: SecretBox,
  factor: TwoFactorRow,
  code: string,
): Promise<boolean> {
  const userId = factor.user_id;
  const digits = code.replace(/\s/g, '');
  if (/^\d{6}$/.test(digits)) {
    const step = stepOfCode(openSecret(secrets, userId, factor.secret!), digits, factor.last_step);
    if (step === undefined) return false;
    await sql('two_factor').where({ user_id: userId }).update({ last_step: step });
    return true;
  }
  const used = await sql('recovery_codes')
    .where({ user_id: userId, hash: recoveryCodeHash(userId, code) })
    .delete();
  return used === 1;
}

/** Gives the user new recovery codes in place of the old ones. @returns the codes, which are stored hashed. */
export async function replaceRecoveryCodes(sql: Sql, userId: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await sql('recovery_codes').where({ user_id: userId }).delete();
  await sql('recovery_codes').insert(
    codes.map((code) => ({ user_id: userId, hash: recoveryCodeHash(userId, code) })),
  );
  return codes;
}
