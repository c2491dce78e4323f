import type { SecretBox } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { findCodeStep, newRecoveryCodes, recoveryCodeHash } from './access.totp.ts';

/** A user's second factor. */
export interface TwoFactorRow {
  user_id: string;
  /** Encrypted; null until it is confirmed. */
  secret: string | null;
  pending_secret: string | null;
  last_step: number;
  /** Number of consecutive wrong codes at logins. */
  failed_codes: number;
  /** Whether wrong codes have locked it. */
  locked: boolean;
}

/** The encryption context of a secret. */
const sealedFor = (userId: string): string => `two_factor.${userId}`;

/** Reads and locks the user's second factor. */
export async function lockTwoFactor(sql: Sql, userId: string): Promise<TwoFactorRow | undefined> {
  const isLocked = 'coalesce(locked_until > now(), false) as locked';
  return await sql('two_factor').where({ user_id: userId }).forUpdate().first('*', sql.raw(isLocked));
}

export const sealSecret = (secrets: SecretBox, userId: string, secret: string): string =>
  secrets.seal(secret, sealedFor(userId));

export const openSecret = (secrets: SecretBox, userId: string, sealed: string): string =>
  secrets.open(sealed, sealedFor(userId));

/**
 * Uses a code of the authenticator, or a recovery code: neither is accepted twice.
 * @returns whether it was correct.
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
    const step = findCodeStep(openSecret(secrets, userId, factor.secret!), digits, factor.last_step);
    if (step === undefined) return false;
    await sql('two_factor').where({ user_id: userId }).update({ last_step: step });
    return true;
  }
  const used = await sql('recovery_codes')
    .where({ user_id: userId, hash: recoveryCodeHash(userId, code) })
    .delete();
  return used === 1;
}

/** Replaces the user's recovery codes. @returns the codes, which are stored as hashes. */
export async function replaceRecoveryCodes(sql: Sql, userId: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await sql('recovery_codes').where({ user_id: userId }).delete();
  await sql('recovery_codes').insert(
    codes.map((code) => ({ user_id: userId, hash: recoveryCodeHash(userId, code) })),
  );
  return codes;
}
