import { type SecretBox, sha256 } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import { storeOneTimeToken, takeOneTimeToken } from '../../kernel/one-time-tokens.ts';

const PURPOSE = 'sso-login';
/** Maximum duration of a login at the provider. */
export const HANDSHAKE_SECONDS = 600;

/** Stores the data that the response of a started login is checked against, encrypted, under the hash of its state. */
export async function storeHandshake(
  sql: Sql,
  secrets: SecretBox,
  state: string,
  handshake: object,
): Promise<void> {
  const data = { sealed: secrets.seal(JSON.stringify(handshake), PURPOSE) };
  await storeOneTimeToken(sql, { hash: sha256(state), purpose: PURPOSE, data, seconds: HANDSHAKE_SECONDS });
}

/** Deletes and returns the handshake of a state; undefined if it is unknown, used or expired. */
export async function takeHandshake<T>(sql: Sql, secrets: SecretBox, state: string): Promise<T | undefined> {
  const data = await takeOneTimeToken<{ sealed: string }>(sql, PURPOSE, sha256(state));
  return data && JSON.parse(secrets.open(data.sealed, PURPOSE));
}
