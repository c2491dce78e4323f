import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockAdministrators, requireAnotherAdministrator } from '../administrators.ts';
import { isAdministrator } from '../users.delete.ts';
import { lockUsers, updateUser } from '../users.store.ts';
import { readIdentity } from './erasure.identity.ts';
import { eraseUserJob } from './erasure.job.ts';

/**
 * Deactivates a user at once, and starts the job that replaces name and address in all texts that the service has
 * written. This cannot be undone. A deleted user can be erased as well.
 * @throws EstateError `forbidden`, `not_found`, `conflict` for the caller and the last administrator, `wrong_state` if
 * the user is erased already.
 */
export async function startErasure(ctx: Ctx, id: string): Promise<StartedJob> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const { sql } = work;
    await lockAdministrators(sql);
    const user = (await lockUsers(sql, [id])).get(id);
    if (!user && !(await readIdentity(sql, id))) throw notFound('user', id);
    if (id === ctx.caller.userId) throw new EstateError('conflict', 'Nobody erases himself.');
    if (user) {
      if (user.erased_at !== null) throw new EstateError('wrong_state', 'The user was erased already.');
      if (isAdministrator(user)) await requireAnotherAdministrator(sql, [id]);
      if (user.is_active) {
        await updateUser(work, user, { is_active: false }, { revokes: true });
        await work.extensions.userRightsChanged(work, ctx, [id]);
      }
    }
    return await enqueueJob(ctx, work, eraseUserJob, { user_id: id });
  });
}
