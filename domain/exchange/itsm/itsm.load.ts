import type { SecretBox } from '../../../platform/crypto.ts';
import {
  type Db,
  embed,
  inTransaction,
  query,
  type Sql,
  type Transaction,
  unlessTaken,
} from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { callerOfOwner, type OwnerRefused, ownedBy } from '../../access/jobs.owner.ts';
import type { Caller, Ctx, Work } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { ConnectionSecrets } from './connections.input.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { type ConnectionSettings, settingNames } from './itsm.model.ts';
import { mappingColumns } from './mappings.input.ts';
import { findBrokenReason, parseRelationPath, stoppedColumns, usesCosts } from './mappings.rules.ts';
import type { Mapping, SyncDirection } from './mappings.types.ts';

/** The encryption context of the secrets of a connection. */
export const secretContext = (id: string): string => `itsm_connection.${id}`;

export interface ConnectionWithSecrets {
  settings: ConnectionSettings;
  secrets: ConnectionSecrets;
}

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
  const row = await query(sql).row<
    ConnectionSettings & { secrets: string; version: string }
  >`select ${embed(settingNames.join(', '))}, secrets, updated_at::text as version
     from itsm_connections where id = ${id} ${embed(lock)}`;
  if (!row) throw notFound('connection', id);
  const { secrets: sealed, version, ...settings } = row;
  return { id, version, settings, secrets: JSON.parse(secrets.open(sealed, secretContext(id))) };
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
  direction: SyncDirection,
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
  { sql, emit }: { sql: Transaction; emit: Work['emit'] },
  mappingId: string,
  { message }: OwnerRefused,
): Promise<void> {
  const rows = await query(sql)
    .rows`update itsm_connections set is_active = false, paused_reason = ${message}, updated_at = now()
     where id = (select connection_id from itsm_mappings where id = ${mappingId}) and is_active returning id, name`;
  if (!rows[0]) return;
  const changes = { is_active: { old: true, new: false }, paused_reason: { old: null, new: message } };
  const recipients = await loadSyncManagers(sql);
  emit({ event_type: 'itsm_connection.paused', data: { ...rows[0], changes, recipients } });
}

/** SQL expressions for the rows of fields and of relations of a mapping `m`, in their order. */
export const rowsOfMapping = {
  fields: `coalesce((select jsonb_agg(to_jsonb(f) - 'mapping_id' - 'position' order by f.position)
    from itsm_field_mappings f where f.mapping_id = m.id), '[]')`,
  relations: `coalesce((select jsonb_agg(to_jsonb(r) - 'mapping_id' - 'position' order by r.position)
    from itsm_relation_mappings r where r.mapping_id = m.id), '[]')`,
};

/** SQL for the columns of a mapping `m` that users set. */
export const settingsOfMapping = Object.keys(mappingColumns)
  .map((column) => `m.${column}`)
  .join(', ');

const selectMapping = `select m.id, ${settingsOfMapping}, m.schedule_key, m.dictionary, m.drift, m.created_by,
    ${rowsOfMapping.fields} as fields, ${rowsOfMapping.relations} as relations
  from itsm_mappings m`;

/** Loads a mapping. @throws EstateError `not_found`. */
export async function loadStoredMapping(sql: Sql, id: string): Promise<Mapping> {
  const rows = await query(sql).rows`${embed(selectMapping)} where m.id = ${id}`;
  if (!rows[0]) throw notFound('mapping', id);
  return rows[0];
}

/** The card types of the mappings of a connection, by the mapping's id. */
export async function loadMappedTypes(sql: Sql, connectionId: string): Promise<Record<string, string>> {
  const rows = await sql('itsm_mappings')
    .where({ connection_id: connectionId })
    .select('id', 'card_type_key');
  return Object.fromEntries(rows.map((row) => [row.id, row.card_type_key]));
}

/** The mappings of a connection, the oldest first. */
export async function loadMappingsOf(sql: Sql, connectionId: string): Promise<Mapping[]> {
  return await query(sql).rows`${embed(selectMapping)} where m.connection_id = ${connectionId} order by m.id`;
}

/** The members of a mapping that determine which permissions it uses. */
export type MappingScope = Pick<
  Mapping,
  'card_type_key' | 'sync_direction' | 'sync_mode' | 'fields' | 'relations' | 'card_defaults'
>;

/** The permissions that runs of a mapping use in the inventory. */
function permissionsOfMapping(metamodel: Metamodel, mapping: MappingScope): AppPermission[] {
  const { sync_direction: direction, sync_mode: mode, relations, fields } = mapping;
  const relates = relations.length > 0 || fields.some(({ card_field }) => parseRelationPath(card_field));
  const writes = direction !== 'push';
  const needed: [AppPermission, boolean][] = [
    ['inventory.view', true],
    ['inventory.create', writes],
    ['inventory.edit', writes],
    ['inventory.archive', writes && mode !== 'additive'],
    ['relations.manage', writes && relates],
    ['relations.view', relates],
    ['costs.view', usesCosts(metamodel, mapping)],
  ];
  return needed.flatMap(([permission, isNeeded]) => (isNeeded ? [permission] : []));
}

/**
 * Checks that the caller has the permissions that runs of the mapping use.
 * @throws EstateError `forbidden` naming the missing permission.
 */
export function requireMappingPermissions(caller: Caller, metamodel: Metamodel, mapping: MappingScope): void {
  for (const permission of permissionsOfMapping(metamodel, mapping)) requirePermission(caller, permission);
}

/** The most recipients of one notification. */
const MAX_RECIPIENTS = 20;

/** Recipients of a mapping's notifications: its creator, or the owner of a service user, else the users who manage synchronisation. */
export async function loadAlertRecipients(sql: Sql, createdBy: string | null): Promise<string[]> {
  const owners = await query(sql)
    .rows`select p.id from users u join users p on p.id = case u.kind when 'service' then u.owner_id else u.id end
     where u.id = ${createdBy} and p.is_active`;
  if (owners[0]) return [owners[0].id];
  return await loadSyncManagers(sql);
}

/** The users who may manage synchronisation. */
async function loadSyncManagers(sql: Sql): Promise<string[]> {
  return await query(sql).column<string>`select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind <> 'service' and not r.is_archived
       and (r.permissions ->> '*' = 'true' or r.permissions ->> 'itsm_sync.manage' = 'true')
     order by u.id limit ${embed(MAX_RECIPIENTS)}`;
}

/** A mapping as runs use it, without fields whose column was removed or changed its type. Plain JSON. */
export interface UsableMapping extends Mapping {
  /** Why no run can start: the metamodel or the remote's schema has changed. Null: runs can start. */
  broken: string | null;
  /** Whether the remote's schema, as last checked, is the only reason. */
  broken_by_drift: boolean;
  /** Mappings at the other end of relations that are paused or broken: card type and table by the mapping's id. */
  blocked_targets: Record<string, string>;
  /** Tables of the mappings at the other end of relations that can run, by the mapping's id. */
  target_tables: Record<string, string>;
}

/** Loads a mapping for use with the current metamodel. @throws EstateError `not_found`. */
export async function loadMapping(sql: Sql, metamodel: Metamodel, id: string): Promise<UsableMapping> {
  const stored = await loadStoredMapping(sql, id);
  const mapped_types = await loadMappedTypes(sql, stored.connection_id);
  const broken = findBrokenReason(metamodel, { ...stored, mapped_types });
  const blocked_targets: UsableMapping['blocked_targets'] = {};
  const target_tables: UsableMapping['target_tables'] = {};
  for (const { target_mapping_id: other } of stored.relations) {
    if (other === null || other === id || other in blocked_targets || other in target_tables) continue;
    const target = await loadStoredMapping(sql, other);
    const canRun = target.is_active && findBrokenReason(metamodel, { ...target, mapped_types }) === null;
    if (canRun) target_tables[other] = target.remote_table;
    else blocked_targets[other] = `${target.card_type_key} with ${target.remote_table}`;
  }
  const stopped = stoppedColumns(stored.drift);
  return {
    ...stored,
    fields: stored.fields.filter(({ remote_field }) => !stopped.has(remote_field)),
    dictionary: null,
    drift: null,
    broken,
    broken_by_drift:
      broken !== null && findBrokenReason(metamodel, { ...stored, mapped_types, drift: null }) === null,
    blocked_targets,
    target_tables,
  };
}

/** The mapping whose cards each reference field refers to, by the field's path. */
export const referencedMappings = ({ id, fields }: Mapping): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((field) =>
      field.transform_type === 'reference'
        ? [[field.card_field, field.transform_config.mapping_id ?? id]]
        : [],
    ),
  );

/** The sync state of a mapping without its pairs: where the next runs resume reading. Timestamps are RFC 3339. */
export interface SyncStateRow {
  /** Up to where records and relations of the remote were read, by its clock. */
  watermark: string | null;
  links_watermark: string | null;
  /** Up to where the change feed was read. */
  local_position: string | null;
  /** Records to read again although they have not changed. */
  again: string[];
  complete_read_at: string | null;
  /** The same for pull and push runs of a bidirectional mapping. */
  pulled_read_at: string | null;
  pushed_read_at: string | null;
  pulled_position: string | null;
  pushed_watermark: string | null;
  /** Where the next delta starts, as the remote has named it; null if it does not. */
  delta_token: string | null;
}

const columns = `utc(watermark) as watermark, utc(links_watermark) as links_watermark,
  local_position::text as local_position, again, utc(complete_read_at) as complete_read_at,
  utc(pulled_read_at) as pulled_read_at, utc(pushed_read_at) as pushed_read_at,
  pulled_position::text as pulled_position, utc(pushed_watermark) as pushed_watermark, delta_token`;

/** The sync state of a mapping; all null when it has never run. */
export async function readSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  const rows = await query(sql)
    .rows`select ${embed(columns)} from (select) one left join itsm_sync_states on mapping_id = ${mappingId}`;
  return { ...rows[0], again: rows[0].again ?? [] };
}

/** Executes a write and reports a violated unique index as an error with this code. */
export async function refuseDuplicate(
  write: PromiseLike<unknown>,
  code: 'name_taken' | 'mapping_exists',
  message: string,
): Promise<void> {
  await unlessTaken(write, (cause) => new EstateError(code, message, { cause }));
}

/** Locks the sync state of a mapping until the transaction ends. Take it before locking cards. */
export async function lockSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  await query(sql)
    .run`insert into itsm_sync_states (mapping_id) values (${mappingId}) on conflict do nothing`;
  const rows = await query(sql)
    .rows`select ${embed(columns)} from itsm_sync_states where mapping_id = ${mappingId} for no key update`;
  return rows[0];
}

/** Makes the next run read these records again. */
export async function markForReread(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<void> {
  await query(sql)
    .run`update itsm_sync_states set again = array(select distinct unnest(again || ${remoteIds}::text[])) where mapping_id = ${mappingId}`;
}

/**
 * Whether the last full read was made by a push run. Such a run skips records without a card and stores nothing about
 * them.
 */
export const isLastFullReadByPush = ({
  complete_read_at,
  pushed_read_at,
}: Pick<SyncStateRow, 'complete_read_at' | 'pushed_read_at'>): boolean =>
  pushed_read_at !== null && (complete_read_at === null || complete_read_at < pushed_read_at);

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
        const rows = await query(sql)
          .rows`select from itsm_connections where id = ${connectionId} for update`;
        if (!rows[0]) return;
        const { secrets: stored } = await loadConnection(sql, secrets, connectionId);
        if (stored.refresh_token !== used) return;
        const plain = JSON.stringify({ ...stored, refresh_token: renewed });
        const sealed = secrets.seal(plain, secretContext(connectionId));
        await sql('itsm_connections').where({ id: connectionId }).update({ secrets: sealed });
      });
    },
  };
}
