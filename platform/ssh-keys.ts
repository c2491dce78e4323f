import { createHash } from 'node:crypto';

/** The fingerprint of a host key, as `ssh-keygen -l` writes it: `SHA256:` and the hash in Base64 without padding. */
export const hostKeyFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** The type of a host key, such as `ssh-ed25519` (RFC 4253, 6.6). */
export function hostKeyType(key: Buffer): string {
  const type = key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1');
  return /^[a-z0-9@.-]{1,60}$/.test(type) ? type : 'unknown';
}

/** Why a private key cannot be used, or undefined. */
export async function privateKeyFault(
  key: string,
  passphrase: string | undefined,
): Promise<string | undefined> {
  // loaded on first use
  const { utils } = (await import('ssh2')).default;
  const parsed = utils.parseKey(key, passphrase);
  if (parsed instanceof Error) {
    return /passphrase|decrypt|integrity|bad auth/i.test(parsed.message)
      ? 'needs its passphrase, or another one'
      : 'is not a private key in the format of OpenSSH or PuTTY; `ssh-keygen -p -f FILE` converts others';
  }
  const [first] = [parsed].flat();
  return first?.isPrivateKey() ? undefined : 'is not a private key';
}
