import type { Knex } from 'knex';
import type { SecretBox } from '../../../platform/crypto.ts';
import { type Db, inTransaction, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { callerOfOwner, type OwnerRefused, ownedBy } from '../../access/jobs.owner.ts';
import type { Caller, Ctx, Work } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { ConnectionSecrets, ConnectionSettings, ConnectionWithSecrets } from './connections.input.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import {
  loadMappingsOf,
  loadStoredMapping,
  loadSyncManagers,
  type MappingScope,
  permissionsOfMapping,
  requireMappingPermissions,
} from './mappings.load.ts';
import type { RunDirection } from './runs.store.ts';

/** The encryption context of the secrets of a connection. */
export const secretContext = (id: string): string => `itsm_connection.${id}`;

/** A stored connection with its secrets in clear text. */
export interface LoadedConnection extends ConnectionWithSecrets {
  id: string;
  /** Changes with each update of the settings. */
  version: string;
}

/**
 * Loads a connection with its secrets in clear text, to call the remote or to change the connection.
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

/** Runs also call this between their steps, so that they stop when the connection is paused. @throws EstateError `wrong_state`. */
export async function requireActive(sql: Sql, id: string): Promise<void> {
  const connection = await sql('itsm_connections').where({ id }).first('is_active');
  if (connection?.is_active) return;
  throw new EstateError('wrong_state', 'The connection is paused: set its is_active to true, and run again.');
}

/**
 * The columns by which the caller becomes the owner of a connection. Its runs act with the owner's rights, so the caller
 * needs the permissions that all of its mappings use.
 * @throws EstateError `forbidden` naming the missing permission.
 */
export async function ownerColumnsOfConnection(
  ctx: Ctx,
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  connectionId: string,
): Promise<ReturnType<typeof ownedBy>> {
  for (const mapping of await loadMappingsOf(sql, connectionId)) {
    requireMappingPermissions(ctx.caller, metamodel, mapping);
  }
  return ownedBy(ctx.caller);
}

/** Makes the caller the owner of a connection. @throws EstateError `forbidden` as {@link ownerColumnsOfConnection}. */
export async function takeOverConnection(ctx: Ctx, work: Work, id: string): Promise<void> {
  const { owner_id: before } = await work.sql('itsm_connections').where({ id }).forUpdate().first('owner_id');
  const columns = await ownerColumnsOfConnection(ctx, work, id);
  await work.sql('itsm_connections').where({ id }).update(columns);
  if (before === columns.owner_id) return;
  const changes = { owner_id: { old: before, new: columns.owner_id } };
  work.emit({ event_type: 'itsm_connection.updated', data: { id, changes } });
}

/**
 * Checks that the caller has the permissions that runs of a mapping use.
 * @throws EstateError `forbidden` naming the missing permission, `not_found`.
 */
export async function requireMappingPermissionsById(
  ctx: Ctx,
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  mappingId: string,
): Promise<void> {
  requireMappingPermissions(ctx.caller, metamodel, await loadStoredMapping(sql, mappingId));
}

/**
 * Checks that the caller and the owner of the connection have the permissions that a run uses.
 * @throws EstateError `forbidden` naming the missing permission; OwnerRefused when the owner lacks it.
 */
export async function requireRunRights(
  ctx: Ctx,
  { sql, metamodel }: Work,
  connectionId: string,
  mappingId: string,
  direction: RunDirection,
): Promise<void> {
  const mapping = { ...(await loadStoredMapping(sql, mappingId)), sync_direction: direction };
  requireMappingPermissions(ctx.caller, metamodel, mapping);
  await callerOfConnection(sql, metamodel, connectionId, mapping);
}

/**
 * Runs of a mapping act as the owner of its connection.
 * @throws OwnerRefused when the owner is gone, inactive, or lacks a permission that the mapping uses.
 */
export async function callerOfConnection(
  sql: Sql,
  metamodel: Metamodel,
  connectionId: string,
  mapping: MappingScope,
): Promise<Caller> {
  const owned = await sql('itsm_connections').where({ id: connectionId }).first('owner_id', 'rights');
  const needed = [MANAGE_SYNC, ...permissionsOfMapping(metamodel, mapping)] as const;
  return await callerOfOwner(sql, owned, 'connection', needed);
}

/** Pauses the connection of a mapping whose owner lacks permissions, and notifies the users who can take it over. */
export async function pauseConnection(
  { sql, emit }: { sql: Knex.Transaction; emit: Work['emit'] },
  mappingId: string,
  { message }: OwnerRefused,
): Promise<void> {
  const { rows } = await sql.raw(
    `update itsm_connections set is_active = false, paused_reason = ?, updated_at = now()
     where id = (select connection_id from itsm_mappings where id = ?) and is_active returning id, name`,
    [message, mappingId],
  );
  if (!rows[0]) return;
  const changes = {
    is_active: { old: true, new: false },
    paused_reason: { old: null, new: message },
  };
  const recipients = await loadSyncManagers(sql);
  emit({
    event_type: 'itsm_connection.paused',
    data: { ...rows[0], changes, recipients },
  });
}

/** The refresh token of a connection. The remote may replace it with each use (refresh token rotation). */
export interface RefreshTokens {
  /** Reads the stored token: another process may have replaced it. */
  read(): Promise<string | undefined>;
  /** Stores the new token, unless the stored one is no longer the used one. */
  replace(used: string, renewed: string): Promise<void>;
}

/** Renewing a token records no event: no setting changes, and the connection stays tested. */
export function refreshTokensOf(
  { db, secrets }: { db: Db; secrets: SecretBox },
  connectionId: string,
): RefreshTokens {
  return {
    async read() {
      try {
        return (await loadConnection(db, secrets, connectionId)).secrets.refresh_token;
      } catch (error) {
        // deleted meanwhile
        if (error instanceof EstateError && error.code === 'not_found') return undefined;
        throw error;
      }
    },
    async replace(used, renewed) {
      await inTransaction(db, async (sql) => {
        const { rows } = await sql.raw('select from itsm_connections where id = ? for update', [
          connectionId,
        ]);
        if (!rows[0]) return;
        const { secrets: stored } = await loadConnection(sql, secrets, connectionId);
        if (stored.refresh_token !== used) return;
        const sealed = secrets.seal(
          JSON.stringify({ ...stored, refresh_token: renewed }),
          secretContext(connectionId),
        );
        await sql('itsm_connections').where({ id: connectionId }).update({ secrets: sealed });
      });
    },
  };
}
