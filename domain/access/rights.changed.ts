import type { Ctx, Work } from '../kernel/context.ts';

/** Notifies the extensions that the permissions of roles, and so those of their users, have changed. */
export async function roleRightsChanged(work: Work, ctx: Ctx, roles: readonly string[]): Promise<void> {
  const userIds = await work.sql('users').whereIn('role', roles).pluck('id');
  await work.extensions.userRightsChanged(work, ctx, userIds);
}
