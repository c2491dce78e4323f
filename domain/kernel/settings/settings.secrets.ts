import type { SecretBox } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import type { SecretGroup } from './settings.defaults.ts';
import { settingTable } from './settings.table.ts';

/** The member of a group that is stored encrypted and never returned. */
export const secretMembers = {
  email: settingTable.email.secret,
  sso: settingTable.sso.secret,
  ai: settingTable.ai.secret,
} satisfies Record<SecretGroup, string>;

/** Returned instead of a secret that is set; if it is sent back, the secret is not changed. */
export const MASK = '********';

/** The key of a secret in the table `settings`, and its encryption context. */
export const secretKey = (group: SecretGroup): string => `secret.${group}.${secretMembers[group]}`;

/** The decrypted secret of a group, for logging in to another system; empty if none is set. */
export async function readSecret(sql: Sql, secrets: SecretBox, group: SecretGroup): Promise<string> {
  const key = secretKey(group);
  const row = await sql('settings').where({ key }).first('value');
  return row ? secrets.open(row.value as string, key) : '';
}
