import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { rolledBackBatchText } from './batches.queries.ts';
import { batchRollbackJob } from './batches.rollback.job.ts';
import { countEvents, type RollbackRequest, rollBack } from './batches.rollback.ts';
import { requireUndoRights } from './undo.rights.ts';

/** Batches with more events are rolled back by a job. */
const AT_ONCE = 2000;

/**
 * Rolls a batch back, or previews that: a small one at once, a large one as a job.
 * @throws EstateError as {@link rollBack}.
 */
export async function startRollback(
  ctx: Ctx,
  id: string,
  request: RollbackRequest,
): Promise<{ report: JsonText } | { job: StartedJob }> {
  const types = await countEvents(ctx.db, id);
  const events = types.reduce((sum, { count }) => sum + count, 0);
  if (events > AT_ONCE) {
    await requireUndoRights(ctx, ctx.db, id);
    const job = await command(ctx, (work) =>
      enqueueJob(ctx, work, batchRollbackJob, { batch_id: id, ...request }),
    );
    return { job };
  }
  const report = await rollBack(ctx, id, request);
  return { report: `{"batch":${await rolledBackBatchText(ctx, id)},${JSON.stringify(report).slice(1)}` };
}
