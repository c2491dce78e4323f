import { requirePermission } from '../access/policy.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { enqueueJob, type StartedJob } from '../jobs/jobs.enqueue.ts';
import { eolRefreshJob } from '../jobs/kinds/eol-refresh.ts';

/** Asks for the facts to be read anew now. @throws EstateError `forbidden`. */
export async function startRefresh(ctx: Ctx): Promise<StartedJob> {
  requirePermission(ctx.caller, 'admin.settings');
  return await command(ctx, (work) => enqueueJob(ctx, work, eolRefreshJob, {}));
}
