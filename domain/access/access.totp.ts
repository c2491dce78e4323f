import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { sha256 } from '../../platform/crypto.ts';

/** Seconds for which a code is valid (RFC 6238). */
const PERIOD = 30;
/** Number of steps before and after the current one whose codes are accepted, to allow for clock differences. */
const WINDOW = 1;
const RECOVERY_CODES = 10;

/** A new secret of 160 bits, in base 32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** The URI in the QR code for authenticators. */
export function totpUri(secret: string, email: string, issuer: string): string {
  return totpOf(secret, email, issuer).toString();
}

/** The code of a secret at a time. */
export function totpCode(secret: string, at: number = Date.now()): string {
  return totpOf(secret).generate({ timestamp: at });
}

/**
 * The time step of a code.
 * @param after the last step that was used: it and earlier ones are refused.
 * @returns undefined if the code is not valid now.
 */
export function findCodeStep(secret: string, code: string, after: number): number | undefined {
  // Six characters of several bytes each would be too long for the comparison.
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

/** Recovery codes of 80 random bits, in groups of four characters. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32.toLowerCase();
    return text.match(/.{4}/g)!.join('-');
  });
}

/** A recovery code in its stored form; spaces, dashes and case are ignored. */
export function recoveryCodeHash(userId: string, code: string): string {
  return sha256(`recovery code ${userId}:${code.toLowerCase().replace(/[\s-]/g, '')}`);
}
