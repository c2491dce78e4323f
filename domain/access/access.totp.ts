import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { sha256 } from '../../platform/crypto.ts';

/** Seconds that a code is shown (RFC 6238). */
const PERIOD = 30;
/** Steps before and after the present one whose codes are taken, for clocks that differ. */
const WINDOW = 1;
const RECOVERY_CODES = 10;

/** A new secret of 160 bits, in base 32 as authenticators take it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** What an authenticator reads from a QR code. */
export function totpUri(secret: string, email: string, issuer: string): string {
  return totpOf(secret, email, issuer).toString();
}

/** The code of a secret at a time. */
export function totpCode(secret: string, at: number = Date.now()): string {
  return totpOf(secret).generate({ timestamp: at });
}

/**
 * The time step whose code this is.
 * @param after the last step that was used: it and all before are refused.
 * @returns undefined when it is none of the codes that count now.
 */
export function stepOfCode(secret: string, code: string, after: number): number | undefined {
  // six characters of several bytes each are more than the comparison takes
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = Date.now();
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  if (delta === null) return undefined;
  const step = Math.floor(now / 1000 / PERIOD) + delta;
  return step > after ? step : undefined;
}

function totpOf(secret: string, label = 'Estate', issuer = 'Estate'): TOTP {
  return new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period: PERIOD, secret });
}

/** Codes of 80 random bits for who has lost the authenticator, in groups of four. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32.toLowerCase();
    return text.match(/.{4}/g)!.join('-');
  });
}

/** A recovery code as it is stored; blanks, dashes and case do not matter. */
export function recoveryCodeHash(userId: string, code: string): string {
  return sha256(`recovery code ${userId}:${code.toLowerCase().replace(/[\s-]/g, '')}`);
}
