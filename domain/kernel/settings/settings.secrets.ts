import type { SecretBox } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';

/** The member of a group of settings that is kept encrypted and never shown. */
export const secretMembers = { email: 'smtp_password', sso: 'client_secret', ai: 'api_key' } as const;

export type SecretGroup = keyof typeof secretMembers;

/** What is shown in place of a secret that is set; sent back, it leaves the secret as it is. */
export const MASK = '********';

/** Where a secret is kept, sealed for a context of the same name. */
export const secretKey = (group: SecretGroup): string => `secret.${group}.${secretMembers[group]}`;

/** The secret of a group in clear, for whoever logs in with it elsewhere; empty when none is set. */
export async function readSecret(sql: Sql, secrets: SecretBox, group: SecretGroup): Promise<string> {
  const key = secretKey(group);
  const row = await sql('settings').where({ key }).first('value');
  return row ? secrets.open(row.value as string, key) : '';
}
