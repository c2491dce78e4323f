import { MANAGE_SYNC } from '../../../domain/exchange/itsm/connections.queries.ts';
import { countApplied, isTakenBack } from '../../../domain/exchange/itsm/plan.journal.ts';
import { itsmRunJob } from '../../../domain/exchange/itsm/runs.job.ts';
import { makeRoomForUndo } from '../../../domain/exchange/itsm/runs.start.ts';
import { insertRun, loadRun } from '../../../domain/exchange/itsm/runs.store.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { enqueueJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError } from '../../../platform/errors.ts';

/**
 * Starts a run that takes another one back, row by row from its end: each only while what it takes back is still as it
 * was left. A plan of the mapping that waits for review gives way to it. Its rows are made by its job.
 * @returns the id of the run that takes back.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` when nothing was applied, it was taken back already, its
 *   mapping is gone or paused, or a run is under way.
 */
export async function undoRun(ctx: Ctx, runId: string): Promise<string> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    const refuse = (why: string) => new EstateError('wrong_state', why, { extra: { run_id: runId } });
    if (run.mapping_id === null) throw refuse('The mapping of the run is gone.');
    await makeRoomForUndo(ctx, work, run.mapping_id);
    if (await isTakenBack(sql, runId)) throw refuse('The run was taken back already.');
    if ((await countApplied(sql, runId)) === 0) throw refuse('The run has applied nothing.');
    const id = await insertRun(work, {
      connection_id: run.connection_id,
      mapping_id: run.mapping_id,
      direction: run.direction,
      trigger: 'undo',
      status: 'queued',
      stage: 'plan',
      complete: false,
      auto_apply: true,
      mapping: JSON.stringify(run.mapping),
      undo_of: runId,
      created_by: ctx.caller.userId,
    });
    const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: id });
    await sql('itsm_runs').where({ id }).update({ job_id });
    return id;
  });
}
