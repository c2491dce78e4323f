import { query, unlessTaken } from '../../platform/database.ts';
import { EstateError, type FieldError, invalidFields, notFound, requireText } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../kernel/context.ts';
import type { EventType } from '../kernel/events/events.catalogue.ts';
import { rowChanges } from '../kernel/events/row-changes.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';
import { type PermissionMap, requireGrantable } from '../kernel/permissions/grants.ts';
import { appPermissions } from '../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { findRows, insertRow, updateRow } from '../kernel/resources/rows.ts';
import { roleRightsChanged } from './rights.changed.ts';
import { Role, type RoleRow } from './roles.model.ts';
import { readRole } from './roles.queries.ts';

// There is one default role, so changes of roles are serialised.
const ROLES_LOCK = 7203014;

type RoleInput = Pick<RoleRow, 'key' | 'label' | 'color' | 'permissions' | 'is_default'> &
  Partial<Pick<RoleRow, 'description'>>;

/**
 * Creates a role. Callers can only grant permissions that they have.
 * @throws EstateError `forbidden`, `conflict` if the key is in use, `validation_failed`.
 */
export async function createRole(ctx: Ctx, input: RoleInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.roles');
  checkPermissions(input.permissions);
  requireGrantable(ctx.caller, input.permissions);
  const label = requireText(input.label, 'label');
  return await changeRoles(ctx, async (work) => {
    const [last] = await work.sql('roles').max('sort_order as at');
    if (input.is_default) await clearDefault(work, ctx);
    const row = await unlessTaken(
      insertRow(work.sql, Role, { ...input, label, sort_order: (last?.at ?? -1) + 1 }),
      () => new EstateError('conflict', `There is a role "${input.key}" already.`),
    );
    emitRole(work, 'role.created', null, row);
    return await readRole(ctx, input.key, work.sql);
  });
}

/** `permissions` is the complete map: omitted permissions are not granted. */
type RolePatch = Partial<
  Pick<RoleRow, 'label' | 'description' | 'color' | 'permissions' | 'is_default' | 'sort_order'>
>;

/**
 * Changes a role; its permissions apply to the next request of its users. Callers can only change roles whose
 * permissions, before and after, they have, and can only replace such a default role.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`; `conflict` for the
 * administrators' permissions and a workspace without a default role; `wrong_state` for an archived default.
 */
export async function patchRole(ctx: Ctx, key: string, patch: RolePatch): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.roles');
  if (patch.permissions) checkPermissions(patch.permissions, key === 'admin');
  const label = patch.label === undefined ? undefined : requireText(patch.label, 'label');
  return await changeRoles(ctx, async (work) => {
    const role = await lockRole(work, key);
    if (ctx.ifMatch) checkIfMatch(ctx, await readRole(ctx, key, work.sql));
    requireGrantable(ctx.caller, role.permissions);
    const values: Partial<RoleRow> = { ...patch, ...(label === undefined ? {} : { label }) };
    if (patch.permissions) {
      if (role.is_system && JSON.stringify(patch.permissions) !== '{"*":true}') {
        throw new EstateError('conflict', 'Administrators hold every permission.');
      }
      requireGrantable(ctx.caller, patch.permissions);
    }
    if (patch.is_default === false && role.is_default) {
      const detail = 'One role must be the default: set another role as the default instead.';
      throw new EstateError('conflict', detail);
    }
    if (patch.is_default === true && !role.is_default) {
      if (role.is_archived) throw new EstateError('wrong_state', 'An archived role cannot be the default.');
      if (role.is_system) throw new EstateError('conflict', 'New users do not become administrators.');
      await clearDefault(work, ctx);
    }
    await write(work, 'role.updated', role, values);
    if (patch.permissions) await roleRightsChanged(work, ctx, [key]);
    return await readRole(ctx, key, work.sql);
  });
}

/**
 * Archives a role: it can no longer be assigned, and its users cannot log in until they get another one. Callers can
 * only archive roles whose permissions they have.
 * @returns the role and the number of active users with it.
 * @throws EstateError `forbidden`, `not_found`, `system_role`, `conflict` for the default and the caller's own role,
 * `wrong_state` if it is archived already.
 */
export async function archiveRole(ctx: Ctx, key: string): Promise<{ text: JsonText; affected: number }> {
  requirePermission(ctx.caller, 'admin.roles');
  return await changeRoles(ctx, async (work) => {
    const role = await lockRole(work, key);
    if (role.is_system) throw new EstateError('system_role', 'The role belongs to the system.');
    if (role.is_archived) throw new EstateError('wrong_state', 'The role is archived already.');
    if (role.is_default) throw new EstateError('conflict', 'The default role cannot be archived.');
    if (ctx.caller.role === key) throw new EstateError('conflict', 'That is your own role.');
    requireGrantable(ctx.caller, role.permissions);
    await write(work, 'role.archived', role, {
      is_archived: true,
      archived_at: new Date().toISOString(),
      archived_by: ctx.caller.userId,
    });
    await roleRightsChanged(work, ctx, [key]);
    const affected = await query(work.sql).value<number>`select count(*)::int as n from users
      where role = ${key} and is_active`;
    return { text: await readRole(ctx, key, work.sql), affected };
  });
}

/**
 * Restores an archived role. Callers can only restore roles whose permissions they have.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` if it is not archived.
 */
export async function restoreRole(ctx: Ctx, key: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.roles');
  return await changeRoles(ctx, async (work) => {
    const role = await lockRole(work, key);
    if (!role.is_archived) throw new EstateError('wrong_state', 'The role is not archived.');
    requireGrantable(ctx.caller, role.permissions);
    await write(work, 'role.restored', role, { is_archived: false, archived_at: null, archived_by: null });
    await roleRightsChanged(work, ctx, [key]);
    return await readRole(ctx, key, work.sql);
  });
}

async function changeRoles<T>(ctx: Ctx, act: (work: Work) => Promise<T>): Promise<T> {
  return await command(ctx, async (work) => {
    await lockRoles(work);
    return await act(work);
  });
}

/** Serialises changes of roles. */
export async function lockRoles({ sql }: Work): Promise<void> {
  await query(sql).run`select pg_advisory_xact_lock(${ROLES_LOCK})`;
}

async function lockRole({ sql }: Work, key: string): Promise<RoleRow> {
  const [role] = await findRows(sql, Role, (query) => query.where({ key }).forNoKeyUpdate());
  if (!role) throw notFound('role', key);
  return role;
}

async function write(work: Work, event: EventType, before: RoleRow, values: Partial<RoleRow>): Promise<void> {
  emitRole(work, event, before, await updateRow(work.sql, Role, { key: before.key }, values));
}

async function clearDefault(work: Work, { caller }: Ctx): Promise<void> {
  const defaults = await findRows(work.sql, Role, (query) =>
    query.where({ is_default: true }).forNoKeyUpdate(),
  );
  for (const role of defaults) {
    requireGrantable(caller, role.permissions);
    await write(work, 'role.updated', role, { is_default: false });
  }
}

function emitRole(work: Work, event_type: EventType, before: RoleRow | null, after: RoleRow): void {
  const changes = rowChanges(before, after);
  if (Object.keys(changes).length === 0) return;
  work.emit({ event_type, data: { id: after.id, key: after.key, label: after.label, changes } });
  work.raise('roles');
}

/** @throws EstateError `validation_failed` naming every unknown permission. */
function checkPermissions(permissions: PermissionMap, wildcard = false): void {
  const errors: FieldError[] = Object.keys(permissions)
    .filter((key) => !(Object.hasOwn(appPermissions, key) || (wildcard && key === '*')))
    .map((key) => ({
      field: `permissions.${key}`,
      code: 'unknown_permission',
      message: 'is no permission of the catalogue',
    }));
  if (errors.length > 0) throw invalidFields(errors);
}
