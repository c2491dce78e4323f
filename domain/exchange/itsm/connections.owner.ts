import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import { callerOfOwner, type OwnerRefused, ownedBy } from '../../access/jobs.owner.ts';
import type { Caller, Ctx, Work } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { loadMappingRow, loadMappingRows } from './mappings.load.ts';
import { managersOfSync } from './mappings.people.ts';
import { permissionsOfMapping, type Reaching, requireReach } from './mappings.reach.ts';
import type { RunDirection } from './runs.types.ts';

/**
 * The columns by which the caller becomes the owner of a connection. Its runs act with the owner's rights, so the caller
 * must hold what all of its mappings use.
 * @throws EstateError `forbidden` naming the missing permission.
 */
export async function connectionOwnedBy(
  ctx: Ctx,
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  connectionId: string,
): Promise<ReturnType<typeof ownedBy>> {
  for (const mapping of await loadMappingRows(sql, connectionId)) {
    requireReach(ctx.caller, metamodel, mapping);
  }
  return ownedBy(ctx.caller);
}

/** Makes the caller the owner of a connection. @throws EstateError `forbidden` as {@link connectionOwnedBy}. */
export async function takeOverConnection(ctx: Ctx, work: Work, id: string): Promise<void> {
  const { owner_id: before } = await work.sql('itsm_connections').where({ id }).forUpdate().first('owner_id');
  const columns = await connectionOwnedBy(ctx, work, id);
  await work.sql('itsm_connections').where({ id }).update(columns);
  if (before === columns.owner_id) return;
  const changes = { owner_id: { old: before, new: columns.owner_id } };
  work.emit({ event_type: 'itsm_connection.updated', data: { id, changes } });
}

/**
 * Whoever starts or steers runs of a mapping must hold what they use.
 * @throws EstateError `forbidden` naming the missing permission, `not_found`.
 */
export async function requireMappingReach(
  ctx: Ctx,
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  mappingId: string,
): Promise<void> {
  requireReach(ctx.caller, metamodel, await loadMappingRow(sql, mappingId));
}

/**
 * Who asks for a run, and the owner of the connection, must hold what it uses.
 * @throws EstateError `forbidden` naming the missing permission; OwnerRefused where it is the owner's.
 */
export async function requireRunRights(
  ctx: Ctx,
  { sql, metamodel }: Work,
  connectionId: string,
  mappingId: string,
  direction: RunDirection,
): Promise<void> {
  const mapping = { ...(await loadMappingRow(sql, mappingId)), sync_direction: direction };
  requireReach(ctx.caller, metamodel, mapping);
  await callerOfConnection(sql, metamodel, connectionId, mapping);
}

/**
 * As whom runs of a mapping act: the owner of its connection.
 * @throws OwnerRefused when the owner is gone, inactive, or lacks a permission that the mapping uses.
 */
export async function callerOfConnection(
  sql: Sql,
  metamodel: Metamodel,
  connectionId: string,
  mapping: Reaching,
): Promise<Caller> {
  const owned = await sql('itsm_connections').where({ id: connectionId }).first('owner_id', 'rights');
  const needed = [MANAGE_SYNC, ...permissionsOfMapping(metamodel, mapping)] as const;
  return await callerOfOwner(sql, owned, 'connection', needed);
}

/** Pauses the connection of a mapping whose owner may not do what its runs do, and tells those who can take it over. */
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
  const recipients = await managersOfSync(sql);
  emit({
    event_type: 'itsm_connection.paused',
    data: { ...rows[0], changes, recipients },
  });
}
