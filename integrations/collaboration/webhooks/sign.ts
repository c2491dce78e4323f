import { createHmac, timingSafeEqual } from 'node:crypto';

/** Maximum difference in seconds between a signature's time and the receiver's clock. */
const TOLERANCE_SECONDS = 300;

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

/**
 * The signature header of a body: `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`, with one
 * `v1` for each valid secret.
 */
export function signBody(secrets: readonly string[], body: string, seconds: number): string {
  return [`t=${seconds}`, ...secrets.map((secret) => `v1=${hmac(secret, `${seconds}.${body}`)}`)].join(',');
}

/** The receivers' check: whether one of the header's signatures is recent and was created with the secret. */
export function verifySignature(secret: string, header: string, body: string, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.split('=') as [string, string]);
  const seconds = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!(Math.abs(nowSeconds - seconds) <= TOLERANCE_SECONDS)) return false;
  const expected = Buffer.from(hmac(secret, `${seconds}.${body}`));
  return parts.some(([name, given]) => {
    const found = Buffer.from(given ?? '');
    return name === 'v1' && found.length === expected.length && timingSafeEqual(found, expected);
  });
}
