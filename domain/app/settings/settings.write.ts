import { query, type Sql } from '../../../platform/database.ts';
import { followGroupSettings } from '../../access/scim/scim.group-roles.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { SettingKey, SettingValues } from '../../kernel/settings/settings.defaults.ts';
import { storedKey } from '../../kernel/settings/settings.read.ts';
import {
  loadSettings,
  SETTINGS_TOPIC,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.state.ts';
import { requireReach } from './settings.reach.ts';

// Without it, two concurrent changes of a group would each restore the members that the other changed.
const SETTINGS_LOCK = 7203014;

/** Reads and locks all settings until the transaction ends. */
export async function lockSettings(sql: Sql): Promise<WorkspaceSettings> {
  await query(sql).run`select pg_advisory_xact_lock(${SETTINGS_LOCK})`;
  return await loadSettings(sql);
}

/** A value in its event: groups by member, others as `value`. */
function asRow(value: SettingValues[SettingKey]): StoredRow {
  const isGroup =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('file_id' in value);
  return isGroup ? (value as unknown as StoredRow) : { value };
}

/**
 * Writes one setting with its event, unless it is unchanged. Changed group roles are applied to users at once.
 * @param settings the result of {@link lockSettings}.
 * @param unset deletes the row, so that the default applies again.
 * @throws EstateError `forbidden` if the change grants rights that the caller does not have.
 */
export async function writeSetting<K extends SettingKey>(
  work: Work,
  ctx: Ctx,
  settings: WorkspaceSettings,
  key: K,
  value: SettingValues[K],
  unset = false,
): Promise<void> {
  const before = asRow(settings.values[key]);
  const after = asRow(value);
  const changes = differingMembers(before, after);
  if (Object.keys(changes).length === 0) return;
  const role = key === 'registration_policy' ? (value as { role: string }).role : undefined;
  await requireReach(ctx, work.sql, key, Object.keys(changes), role);
  const row = work.sql('settings').where({ key: storedKey(key) });
  if (unset) await row.delete();
  else {
    await work
      .sql('settings')
      .insert({
        key: storedKey(key),
        value: JSON.stringify(value),
        updated_by: ctx.caller.userId,
      })
      .onConflict('key')
      .merge({ value: JSON.stringify(value), updated_by: ctx.caller.userId, updated_at: work.sql.fn.now() });
  }
  work.emit({
    event_type: 'settings.updated',
    data: { id: key, first: !settings.stored.has(key), changes: rowChanges(before, after) },
  });
  work.raise(SETTINGS_TOPIC);
  if (key === 'sso' && 'group_roles' in changes) await followGroupSettings(work, ctx);
}
