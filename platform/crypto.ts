import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** SHA-256 in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** A random secret of 256 bits, by default safe in addresses and headers. */
export function randomSecret(encoding: 'base64' | 'base64url' = 'base64url'): string {
  return randomBytes(32).toString(encoding);
}

/** The short public name of a key, stored beside what it signed or encrypted. */
export function keyId(secretKey: string): string {
  return sha256(`estate key id:${secretKey}`).slice(0, 12);
}

/** A 256-bit key for one purpose, derived from a secret key (HKDF-SHA-256). */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'estate', purpose, 32));
}

/** Encryption of small secrets at rest. */
export interface SecretBox {
  /** `<key id>.<nonce>.<tag>.<cipher text>`, base64url; `context` (such as `settings.smtp`) is authenticated. */
  seal(plain: string, context: string): string;
  /** @throws Error when the text was made by an unknown key, for another context, or was altered. */
  open(sealed: string, context: string): string;
}

/** AES-256-GCM under keys derived from the secret keys; the first seals, every one opens. */
export function createSecretBox(secretKeys: string[]): SecretBox {
  const keys = new Map(secretKeys.map((key) => [keyId(key), deriveKey(key, 'secrets at rest')]));
  const current = keyId(secretKeys[0]!);
  return {
    seal(plain, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keys.get(current)!, nonce);
      cipher.setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return [current, ...[nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join(
        '.',
      );
    },
    open(sealed, context) {
      const [id = '', nonce = '', tag = '', text = ''] = sealed.split('.');
      const key = keys.get(id);
      if (!key) throw new Error(`the secret was sealed with the key ${id}, which SECRET_KEY does not hold`);
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString(
        'utf8',
      );
    },
  };
}
