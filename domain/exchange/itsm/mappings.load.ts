import { queryColumn, queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Caller } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { findBrokenReason, parseRelationPath, stoppedColumns, usesCosts } from './mappings.rules.ts';
import type { Mapping } from './mappings.types.ts';

const selectMapping = `select m.id, m.connection_id, m.card_type_key, m.remote_table, m.sync_direction, m.sync_mode,
    m.filter_query, m.card_filter, m.card_defaults, m.record_defaults, m.max_deletions, m.max_deletion_ratio,
    m.quarantine_minutes, m.complete_reads, m.auto_apply, m.auto_apply_max_changes, m.auto_apply_max_ratio,
    m.complete_every_hours, m.follows_changes, m.schedule_key, m.is_active, m.dictionary, m.drift, m.created_by,
    coalesce((select jsonb_agg(to_jsonb(f) - 'mapping_id' - 'position' order by f.position)
      from itsm_field_mappings f where f.mapping_id = m.id), '[]') as fields,
    coalesce((select jsonb_agg(to_jsonb(r) - 'mapping_id' - 'position' order by r.position)
      from itsm_relation_mappings r where r.mapping_id = m.id), '[]') as relations
  from itsm_mappings m`;

/** Loads a mapping. @throws EstateError `not_found`. */
export async function loadStoredMapping(sql: Sql, id: string): Promise<Mapping> {
  const { rows } = await sql.raw(`${selectMapping} where m.id = ?`, [id]);
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
  return await queryRows(sql, `${selectMapping} where m.connection_id = ? order by m.id`, [connectionId]);
}

/** The members of a mapping that determine which permissions it uses. */
export type MappingScope = Pick<
  Mapping,
  'card_type_key' | 'sync_direction' | 'sync_mode' | 'fields' | 'relations' | 'card_defaults'
>;

/** The permissions that runs of a mapping use in the inventory. */
export function permissionsOfMapping(metamodel: Metamodel, mapping: MappingScope): AppPermission[] {
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
  const { rows: owners } = await sql.raw(
    `select p.id from users u join users p on p.id = case u.kind when 'service' then u.owner_id else u.id end
     where u.id = ? and p.is_active`,
    [createdBy],
  );
  if (owners[0]) return [owners[0].id];
  return await loadSyncManagers(sql);
}

/** The users who may manage synchronisation. */
export async function loadSyncManagers(sql: Sql): Promise<string[]> {
  return await queryColumn<string>(
    sql,
    `select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind <> 'service' and not r.is_archived
       and (r.permissions ->> '*' = 'true' or r.permissions ->> 'itsm_sync.manage' = 'true')
     order by u.id limit ${MAX_RECIPIENTS}`,
  );
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
}

const columns = `utc(watermark) as watermark, utc(links_watermark) as links_watermark,
  local_position::text as local_position, again, utc(complete_read_at) as complete_read_at,
  utc(pulled_read_at) as pulled_read_at, utc(pushed_read_at) as pushed_read_at,
  pulled_position::text as pulled_position, utc(pushed_watermark) as pushed_watermark`;

/** The sync state of a mapping; all null when it has never run. */
export async function readSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  const { rows } = await sql.raw(
    `select ${columns} from (select) one left join itsm_sync_states on mapping_id = ?`,
    [mappingId],
  );
  return { ...rows[0], again: rows[0].again ?? [] };
}

/** Locks the sync state of a mapping until the transaction ends. Take it before locking cards. */
export async function lockSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  await sql.raw('insert into itsm_sync_states (mapping_id) values (?) on conflict do nothing', [mappingId]);
  const { rows } = await sql.raw(
    `select ${columns} from itsm_sync_states where mapping_id = ? for no key update`,
    [mappingId],
  );
  return rows[0];
}

/** Makes the next run read these records again. */
export async function markForReread(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<void> {
  await sql.raw(
    'update itsm_sync_states set again = array(select distinct unnest(again || ?::text[])) where mapping_id = ?',
    [remoteIds, mappingId],
  );
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

/** An SQL expression of {@link isLastFullReadByPush} over a sync state `b`. */
const isLastFullReadByPushSql =
  "coalesce(b.pushed_read_at > coalesce(b.complete_read_at, timestamptz '-infinity'), false)";

/**
 * Cards without a record that may get one now: new ones, those that were changed after the remote refused them, and those whose
 * record a user rejected in the last run. When earlier runs skipped records without a card, only a full read can find out whether
 * one of those records belongs to such a card.
 */
const hasNewCards = `(exists (
  select from events e join cards c on c.id = e.card_id and c.type = m.card_type_key and c.status = 'ACTIVE'
  where e.position > b.local_position and e.card_type = m.card_type_key
    and (e.event_type in ('card.created', 'card.restored') or exists (
      select from itsm_plan_rows r join itsm_runs u on u.id = r.run_id and u.mapping_id = m.id
      where r.card_id = c.id and r.action = 'create' and r.side = 'remote' and r.progress = 'refused'))
    and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id))
  or exists (
    select from itsm_plan_rows r join cards c on c.id = r.card_id and c.status = 'ACTIVE'
    where r.run_id = (select u.id from itsm_runs u where u.mapping_id = m.id and u.status = 'completed'
        order by u.created_at desc limit 1)
      and r.action = 'create' and r.side = 'remote' and r.approval = 'rejected'
      and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id)))`;

const isFresh = (readAt: string): string =>
  `coalesce(${readAt} >= now() - make_interval(hours => m.complete_every_hours), false)`;

/**
 * An SQL expression over a mapping `m` and its sync state `b`: whether a run needs a full read. Runs in one direction also
 * use what runs in both directions have read.
 * @param direction an SQL expression for the direction of the run.
 */
export const needsFullRead = (direction: string): string => `coalesce(case
  when ${direction} = m.sync_direction then b.watermark is null or b.local_position is null
    or not ${isFresh('b.complete_read_at')} or (m.sync_direction = 'push' and ${hasNewCards})
  when ${direction} = 'pull' then b.watermark is null
    or not ${isFresh('greatest(b.complete_read_at, b.pulled_read_at)')}
  when ${isLastFullReadByPushSql} then b.pushed_watermark is null or b.local_position is null
    or not ${isFresh('b.pushed_read_at')} or ${hasNewCards}
  else b.watermark is null or b.local_position is null or not ${isFresh('b.complete_read_at')} end, true)`;
