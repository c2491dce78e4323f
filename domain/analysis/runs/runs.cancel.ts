import { queryRows } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { abortRun, lockRun } from './runs.store.ts';

/**
 * Cancels a queued or running run, whoever started it; its worker stops within two seconds.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` for a run that has ended.
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
    await queryRows(
      sql,
      `update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ? and status in ('queued', 'running')`,
      [run.job_id],
    );
    const signals = [JOB_CANCEL_CHANNEL, run.job_id, JOB_STATE_CHANNEL, run.job_id];
    await queryRows(sql, 'select pg_notify(?, ?), pg_notify(?, ?)', signals);
    await abortRun(work, id, { status: 'cancelled' });
  });
}
