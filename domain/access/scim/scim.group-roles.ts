import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { INVITABLE_ROLES, permissionsOfRole, requireGrantable } from '../../kernel/permissions/grants.ts';
import { hasOtherAdministrator } from '../administrators.ts';
import { rolesByGroups } from '../sso/sso.roles.ts';
import { isAdministrator } from '../users.delete.ts';
import type { UserRow } from '../users.model.ts';
import { emitUpdate, lockUsers } from '../users.store.ts';

/** Assigns to all members of a group the role that the settings map it to. @throws EstateError `forbidden`. */
export async function followGroupSettings(work: Work, ctx: Ctx): Promise<void> {
  await followGroups(work, ctx, await work.sql('scim_group_members').distinct().pluck('user_id'));
}

/**
 * Assigns to users the roles that the settings map their groups to, under the lock of the administrators. The last
 * administrator keeps the role. Roles with permissions that the caller does not have are not assigned.
 * @throws EstateError `forbidden`.
 */
export async function followGroups(work: Work, ctx: Ctx, userIds: string[]): Promise<void> {
  const { sql } = work;
  const roleOf = await rolesByGroups(sql);
  if (!roleOf || userIds.length === 0) return;
  const people = [...(await lockUsers(sql, userIds)).values()];
  const rows = await query(sql).rows`select m.user_id, g.display_name, g.external_id from scim_group_members m
    join scim_groups g on g.id = m.group_id
     where m.user_id = any(${userIds}::uuid[])`;
  // The settings name groups as the provider does: by name or by id.
  const held = new Map<string, string[]>(people.map(({ id }) => [id, []]));
  for (const { user_id, display_name, external_id } of rows) {
    held.get(user_id)?.push(display_name, ...(external_id === null ? [] : [external_id]));
  }
  const wanted = (user: UserRow) => roleOf(held.get(user.id)!) ?? user.role;
  let changing = people.filter((user) => user.erased_at === null && wanted(user) !== user.role);
  const leaving = changing.filter(isAdministrator);
  const leavingIds = leaving.map(({ id }) => id);
  if (leaving.length > 0 && !(await hasOtherAdministrator(sql, leavingIds))) {
    changing = changing.filter((user) => user !== leaving[0]);
  }
  for (const [role, members] of Map.groupBy(changing, wanted)) {
    if (!INVITABLE_ROLES.includes(role)) requireGrantable(ctx.caller, await permissionsOfRole(sql, role));
    const after = await query(sql).rows`update users set role = ${role}, token_version = token_version + 1,
      updated_at = now()
       where id = any(${members.map(({ id }) => id)}::uuid[]) returning to_jsonb(users) as row`;
    const now = new Map(after.map(({ row }: { row: UserRow }) => [row.id, row]));
    for (const user of members) emitUpdate(work, user, now.get(user.id) as UserRow);
    work.raise('users');
  }
  const ids = changing.map(({ id }) => id);
  await work.extensions.userRightsChanged(work, ctx, ids);
}
