import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx, Work } from '../kernel/context.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { requireRow } from '../kernel/resources/rows.ts';
import { lockAdministrators, requireAnotherAdministrator } from './administrators.ts';
import { User, type UserRow } from './users.model.ts';
import { identity, lockUsers, userChanges } from './users.store.ts';

/**
 * Deletes a user. Events and contents remain, without a name; roles on cards, tokens and personal rows are deleted.
 * @throws EstateError `forbidden`, `not_found`, `conflict` for the caller and the last administrator.
 */
export async function deleteUser(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    await lockAdministrators(work.sql);
    const user = await requireRow(work.sql, User, 'user', { id });
    if (id === ctx.caller.userId) throw new EstateError('conflict', 'Nobody deletes himself.');
    if (isAdministrator(user)) await requireAnotherAdministrator(work.sql, [id]);
    await deleteUserRows(work, ctx, [user]);
  });
}

export const isAdministrator = (user: UserRow): boolean =>
  user.role === 'admin' && user.is_active && user.kind === 'person';

/** Why a user of many was skipped. */
export interface SkippedUser {
  id: string;
  reason: 'unknown' | 'self' | 'active' | 'erased' | 'unchanged' | 'last_administrator';
}

/**
 * Deletes deactivated users.
 * @returns the number of deleted users, and the skipped ones.
 * @throws EstateError `forbidden`.
 */
export async function deleteUsers(
  ctx: Ctx,
  ids: string[],
): Promise<{ deleted: number; skipped: SkippedUser[] }> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const users = await lockUsers(work.sql, wanted);
    const skipped: SkippedUser[] = [];
    const leaving: UserRow[] = [];
    for (const id of wanted) {
      const user = users.get(id);
      if (!user) skipped.push({ id, reason: 'unknown' });
      else if (id === ctx.caller.userId) skipped.push({ id, reason: 'self' });
      else if (user.is_active) skipped.push({ id, reason: 'active' });
      else leaving.push(user);
    }
    await deleteUserRows(work, ctx, leaving);
    return { deleted: leaving.length, skipped };
  });
}

/** Deletes locked users, after the events and topics of their cards. */
export async function deleteUserRows(work: Work, ctx: Ctx, users: UserRow[]): Promise<void> {
  if (users.length === 0) return;
  const ids = users.map(({ id }) => id);
  await work.extensions.deleteWithUsers(work, ctx, users);
  await work.sql('users').whereIn('id', ids).delete();
  await work.extensions.userRightsChanged(work, ctx, ids);
  for (const user of users) {
    work.emit({ event_type: 'user.deleted', data: { ...identity(user), changes: userChanges(user, null) } });
  }
  work.raise('users');
}
