import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Caller } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { mapsCosts, relatedPath } from './mappings.rules.ts';
import type { Mapping } from './mappings.types.ts';

const whole = `select m.id, m.connection_id, m.card_type_key, m.remote_table, m.sync_direction, m.sync_mode,
    m.filter_query, m.card_filter, m.card_defaults, m.record_defaults, m.max_deletions, m.max_deletion_ratio,
    m.quarantine_minutes, m.complete_reads, m.auto_apply, m.auto_apply_max_changes, m.auto_apply_max_ratio,
    m.complete_every_hours, m.follows_changes, m.schedule_key, m.is_active, m.dictionary, m.drift, m.created_by,
    coalesce((select jsonb_agg(to_jsonb(f) - 'mapping_id' - 'position' order by f.position)
      from itsm_field_mappings f where f.mapping_id = m.id), '[]') as fields,
    coalesce((select jsonb_agg(to_jsonb(r) - 'mapping_id' - 'position' order by r.position)
      from itsm_relation_mappings r where r.mapping_id = m.id), '[]') as relations
  from itsm_mappings m`;

/** A mapping as it is stored. @throws EstateError `not_found`. */
export async function loadStoredMapping(sql: Sql, id: string): Promise<Mapping> {
  const { rows } = await sql.raw(`${whole} where m.id = ?`, [id]);
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

/** The mappings of a connection as they are stored, the oldest first. */
export async function loadMappingsOf(sql: Sql, connectionId: string): Promise<Mapping[]> {
  const { rows } = await sql.raw(`${whole} where m.connection_id = ? order by m.id`, [connectionId]);
  return rows;
}

/** What decides which rights a mapping uses. */
export type MappingScope = Pick<
  Mapping,
  'card_type_key' | 'sync_direction' | 'sync_mode' | 'fields' | 'relations' | 'card_defaults'
>;

/** The permissions that runs of a mapping use in the inventory. */
export function permissionsOfMapping(metamodel: Metamodel, mapping: MappingScope): AppPermission[] {
  const { sync_direction: direction, sync_mode: mode, relations, fields } = mapping;
  const relates = relations.length > 0 || fields.some(({ card_field }) => relatedPath(card_field));
  const writes = direction !== 'push';
  const needed: [AppPermission, boolean][] = [
    ['inventory.view', true],
    ['inventory.create', writes],
    ['inventory.edit', writes],
    ['inventory.archive', writes && mode !== 'additive'],
    ['relations.manage', writes && relates],
    ['relations.view', relates],
    ['costs.view', mapsCosts(metamodel, mapping)],
  ];
  return needed.flatMap(([permission, isNeeded]) => (isNeeded ? [permission] : []));
}

/**
 * Nobody writes or reads through a mapping what they may not write or read themselves.
 * @throws EstateError `forbidden` naming the missing permission.
 */
export function requireMappingPermissions(caller: Caller, metamodel: Metamodel, mapping: MappingScope): void {
  for (const permission of permissionsOfMapping(metamodel, mapping)) requirePermission(caller, permission);
}

/** Recipients of one notification at most. */
const MOST = 20;

/** Recipients of a mapping's notifications: its creator, a program's owner, or else the users who manage synchronisation. */
export async function ownersOf(sql: Sql, createdBy: string | null): Promise<string[]> {
  const { rows: owners } = await sql.raw(
    `select p.id from users u join users p on p.id = case u.kind when 'service' then u.owner_id else u.id end
     where u.id = ? and p.is_active`,
    [createdBy],
  );
  if (owners[0]) return [owners[0].id];
  return await managersOfSync(sql);
}

/** People who may manage synchronisation. */
export async function managersOfSync(sql: Sql): Promise<string[]> {
  const { rows } = await sql.raw(
    `select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind <> 'service' and not r.is_archived
       and (r.permissions ->> '*' = 'true' or r.permissions ->> 'itsm_sync.manage' = 'true')
     order by u.id limit ${MOST}`,
  );
  return rows.map(({ id }: { id: string }) => id);
}
