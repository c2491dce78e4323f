import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { breakOffRun, lockRun } from './runs.store.ts';

/**
 * Ends a run that waits or is under way, whoever started it; its worker stops within two seconds. What it has
 * stored of parts that are done stays.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` when it has ended.
 */
export async function cancelRun(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await lockRun(sql, id);
    if (run.status !== 'running')
      throw new EstateError('wrong_state', `The run has ended: it is ${run.status}.`, {
        extra: { run_id: id, run_status: run.status },
      });
    await sql.raw(
      `update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ? and status in ('queued', 'running')`,
      [run.job_id] as never,
    );
    await sql.raw('select pg_notify(?, ?), pg_notify(?, ?)', [
      JOB_CANCEL_CHANNEL,
      run.job_id,
      JOB_STATE_CHANNEL,
      run.job_id,
    ] as never);
    await breakOffRun(work, id, { status: 'cancelled' });
  });
}
