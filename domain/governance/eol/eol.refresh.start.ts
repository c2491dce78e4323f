import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
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
