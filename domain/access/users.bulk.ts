import { query } from '../../platform/database.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { permissionsOfRole, requireGrantable, requireReopening } from '../kernel/permissions/grants.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { hasOtherAdministrator, lockAdministrators } from './administrators.ts';
import { isAdministrator, type SkippedUser } from './users.delete.ts';
import { emitUpdate, lockUsers, type UserRow } from './users.store.ts';

export interface UserUpdates {
  role?: string;
  is_active?: boolean;
}

/**
 * Sets the role or the state of many users, each with the checks of a single change. The caller and the last
 * administrator are skipped.
 * @returns the number of changed users, and the skipped ones.
 * @throws EstateError `forbidden`, `validation_failed` for an unknown role.
 */
export async function updateUsersInBulk(
  ctx: Ctx,
  ids: string[],
  updates: UserUpdates,
): Promise<{ updated: number; skipped: SkippedUser[] }> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const { sql } = work;
    if (updates.role !== undefined) {
      requireGrantable(ctx.caller, await permissionsOfRole(sql, updates.role));
    }
    await lockAdministrators(sql);
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const users = await lockUsers(sql, wanted);
    const skipped: SkippedUser[] = [];
    let changing: UserRow[] = [];
    for (const id of wanted) {
      const user = users.get(id);
      if (!user) skipped.push({ id, reason: 'unknown' });
      else if (id === ctx.caller.userId) skipped.push({ id, reason: 'self' });
      else if (user.erased_at !== null) skipped.push({ id, reason: 'erased' });
      else if (!differs(user, updates)) skipped.push({ id, reason: 'unchanged' });
      else changing.push(user);
    }
    const lost = changing.filter(
      (user) => isAdministrator(user) && !isAdministrator({ ...user, ...updates }),
    );
    const lostIds = lost.map(({ id }) => id);
    if (lost.length > 0 && !(await hasOtherAdministrator(sql, lostIds))) {
      skipped.push({ id: lost[0]!.id, reason: 'last_administrator' });
      changing = changing.filter((user) => user !== lost[0]);
    }
    if (changing.length === 0) return { updated: 0, skipped };
    for (const user of changing) {
      if (updates.is_active && !user.is_active) await requireReopening(ctx, sql, { ...user, ...updates });
    }
    const rows = await query(sql).rows`update users set role = coalesce(${updates.role ?? null}, role),
      is_active = coalesce(${updates.is_active ?? null}, is_active),
         token_version = token_version + 1, updated_at = now()
       where id = any(${changing.map(({ id }) => id)}::uuid[]) returning to_jsonb(users) as row`;
    const after = new Map(rows.map(({ row }: { row: UserRow }) => [row.id, row]));
    for (const before of changing) emitUpdate(work, before, after.get(before.id) as UserRow);
    await work.extensions.userRightsChanged(work, ctx, [...after.keys()] as string[]);
    work.raise('users');
    return { updated: changing.length, skipped };
  });
}

const differs = (user: UserRow, { role, is_active }: UserUpdates): boolean =>
  (role !== undefined && role !== user.role) || (is_active !== undefined && is_active !== user.is_active);
