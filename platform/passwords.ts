import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** The cost parameters of scrypt (RFC 7914). */
interface PasswordCost {
  logN: number;
  r: number;
  p: number;
}

/** OWASP Password Storage Cheat Sheet: scrypt with N = 2^15, r = 8, p = 3 (32 MiB a hash). */
const OWASP: PasswordCost = { logN: 15, r: 8, p: 3 };
const MAX_MEMORY = 64 * 1024 * 1024;

/** Hashes passwords, and checks them. */
export interface Passwords {
  /** A password's hash with its parameters: `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the hash; constant in time for hashes of the same parameters. Without a hash it takes
   * the same time, so that the existence of accounts is not revealed.
   */
  verify(password: string, stored: string | null | undefined): Promise<boolean>;
}

function scryptAsync(password: string, salt: Buffer, { logN, r, p }: PasswordCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, 32, { N: 2 ** logN, r, p, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** @param cost of new hashes; those that are there are checked at the cost that they were made with. */
export function createPasswords(cost: PasswordCost = OWASP): Passwords {
  let decoy: Promise<string> | undefined;

  async function hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const key = await scryptAsync(password, salt, cost);
    return ['scrypt', cost.logN, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join(
      '$',
    );
  }

  async function fits(password: string, stored: string): Promise<boolean> {
    const [scheme, logN, r, p, salt, key] = stored.split('$');
    if (scheme !== 'scrypt' || !salt || !key) return false;
    const expected = Buffer.from(key, 'base64url');
    const made = { logN: Number(logN), r: Number(r), p: Number(p) };
    const found = await scryptAsync(password, Buffer.from(salt, 'base64url'), made);
    return expected.length === found.length && timingSafeEqual(expected, found);
  }

  return {
    hash,
    async verify(password, stored) {
      if (stored) return await fits(password, stored);
      decoy ??= hash('no account has this password');
      await fits(password, await decoy);
      return false;
    },
  };
}
