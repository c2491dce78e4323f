import type { SecretBox } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { ConnectionSecrets, ConnectionSettings, KeptConnection } from './connections.types.ts';

/** What the secrets of a connection are sealed for. */
export const secretContext = (id: string): string => `itsm_connection.${id}`;

/** A connection as it is stored, and as of when. */
export interface LoadedConnection extends KeptConnection {
  id: string;
  /** Differs after each change of what is set. */
  version: string;
}

/**
 * A connection with its secrets in clear, for whoever calls the remote or changes it.
 * @throws EstateError `not_found`.
 */
export async function loadConnection(
  sql: Sql,
  secrets: SecretBox,
  id: string,
  lock: '' | 'for update' = '',
): Promise<LoadedConnection> {
  const { rows } = await sql.raw(
    `select name, kind, instance_url, auth_type, grant_type, username, client_id, time_zone, ca, client_certificate, sources,
       new_records, correlation_column, is_active, secrets, updated_at::text as version
     from itsm_connections where id = ? ${lock}`,
    [id],
  );
  if (!rows[0]) throw notFound('connection', id);
  const { secrets: sealed, version, ...settings } = rows[0];
  return {
    id,
    version,
    settings: settings as ConnectionSettings,
    secrets: JSON.parse(secrets.open(sealed, secretContext(id))) as ConnectionSecrets,
  };
}

/** Called while a run is under way too, so that it ends with the step it is at. @throws EstateError `wrong_state` in a pause. */
export async function requireActive(sql: Sql, id: string): Promise<void> {
  const connection = await sql('itsm_connections').where({ id }).first('is_active');
  if (connection?.is_active) return;
  throw new EstateError('wrong_state', 'The connection is paused: set its is_active to true, and run again.');
}
