import { EstateError } from '../../platform/errors.ts';
import { requirePermission } from '../access/policy.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { enqueueJob, type StartedJob } from '../jobs/jobs.enqueue.ts';
import { eolRefreshJob } from './eol.refresh.job.ts';

/**
 * Asks for the facts to be read anew now, unless somebody, or the schedule, has asked for that already.
 * @throws EstateError `forbidden`, `wrong_state`.
 */
export async function startRefresh(ctx: Ctx): Promise<StartedJob> {
  requirePermission(ctx.caller, 'eol.manage');
  return await command(ctx, async (work) => {
    const under = await work
      .sql('jobs')
      .where({ kind: eolRefreshJob.kind })
      .whereIn('status', ['queued', 'running'])
      .first('id');
    if (under) throw new EstateError('wrong_state', 'The facts are being read already.');
    return await enqueueJob(ctx, work, eolRefreshJob, {});
  });
}
