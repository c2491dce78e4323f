import { type SecretBox, sha256 } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';

const PURPOSE = 'sso-login';
/** How long somebody may take to log in at the provider. */
export const HANDSHAKE_SECONDS = 600;

/** Keeps what a login that was begun is checked against, sealed, under the hash of its state. */
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

/** Takes the handshake of a state, once; undefined if it is unknown, used or expired. */
export async function takeHandshake<T>(sql: Sql, secrets: SecretBox, state: string): Promise<T | undefined> {
  const [row] = await sql('one_time_tokens')
    .where({ hash: sha256(state), purpose: PURPOSE })
    .whereRaw('expires_at > now()')
    .delete()
    .returning('data');
  return row && JSON.parse(secrets.open(row.data.sealed, PURPOSE));
}
