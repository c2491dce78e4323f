import { type SecretBox, sha256 } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';

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
  await sql('one_time_tokens').insert({
    hash: sha256(state),
    purpose: PURPOSE,
    data: JSON.stringify({ sealed: secrets.seal(JSON.stringify(handshake), PURPOSE) }),
    expires_at: sql.raw('now() + make_interval(secs => ?)', [HANDSHAKE_SECONDS]),
  });
}

/** Deletes and returns the handshake of a state; undefined if it is unknown, used or expired. */
export async function takeHandshake<T>(sql: Sql, secrets: SecretBox, state: string): Promise<T | undefined> {
  const [row] = await sql('one_time_tokens')
    .where({ hash: sha256(state), purpose: PURPOSE })
    .whereRaw('expires_at > now()')
    .delete()
    .returning('data');
  return row && JSON.parse(secrets.open(row.data.sealed, PURPOSE));
}
