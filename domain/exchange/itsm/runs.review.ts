import { embed, fragment, query, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { requireRunRights } from './itsm.load.ts';
import {
  abortRun,
  changeRun,
  loadRun,
  lockMapping,
  requireRunnable,
  requireStatus,
  supersedeOpenPlan,
} from './runs.commands.ts';
import { clearDue } from './runs.due.ts';
import { itsmRunJob } from './runs.job.ts';

/** Selects rows of a plan; default: all pending rows. */
interface RowSelection {
  rows?: readonly number[];
  action?: string;
}

const isPending = (runId: string) =>
  fragment`run_id = ${runId} and progress = 'pending' and action not in ('conflict', 'stage', 'skip')`;

/**
 * Approves or rejects rows of a plan in review. A later decision replaces an earlier one.
 * @returns the number of rows.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`; `validation_failed` if a given row is not pending.
 */
export async function decideRows(
  ctx: Ctx,
  runId: string,
  decision: 'approved' | 'rejected',
  selection: RowSelection,
): Promise<number> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const run = await loadRun(work.sql, runId, 'for update');
    requireStatus(run, 'review');
    const count = await markRows(work.sql, ctx, runId, decision, selection);
    if (count > 0) {
      await changeRun(work, runId, 'itsm_run.decided', {}, {}, { word: decision, count, ...selection });
    }
    return count;
  });
}

async function markRows(
  sql: Transaction,
  ctx: Ctx,
  runId: string,
  decision: 'approved' | 'rejected',
  { rows, action }: RowSelection,
): Promise<number> {
  const selected = rows && [...new Set(rows)];
  const count = await query(sql).value<number>`with marked as (
       update itsm_plan_rows set approval = ${decision}, decided_by = ${ctx.caller.userId}
       where ${embed(isPending(runId))} ${embed(selected ? fragment`and no = any(${selected}::integer[])` : '')}
         ${embed(action ? fragment`and action = ${action}` : '')}
       returning 1
     ) select count(*)::int as n from marked`;
  if (selected && !action && count < selected.length) {
    throw invalidField('rows', 'unknown_row', 'Some of the rows are not in the plan, or are not pending.');
  }
  return count;
}

/**
 * Queues the application of a plan: the given rows, else the approved rows, else (if none is approved) all rows not rejected.
 * @param overrideLimit apply a plan that exceeds the deletion limit.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`, `validation_failed`.
 */
export async function applyRows(
  ctx: Ctx,
  runId: string,
  { rows, overrideLimit = false }: { rows?: readonly number[]; overrideLimit?: boolean },
): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    requireStatus(run, 'review');
    await requireUnpaused(sql, run.mapping_id);
    await requireRunRights(ctx, work, run.connection_id, run.mapping_id!, run.direction);
    if (run.stopped !== null && run.limit_overridden_by === null && !overrideLimit) {
      throw new EstateError('wrong_state', `The plan was stopped: ${run.stopped}`, {
        extra: { run_id: runId, stopped: run.stopped },
      });
    }
    if (rows) await markRows(sql, ctx, runId, 'approved', { rows });
    else {
      await query(sql).run`update itsm_plan_rows set approval = 'approved', decided_by = ${ctx.caller.userId}
         where ${embed(isPending(runId))} and approval is null
           and not exists (select from itsm_plan_rows a where a.run_id = ${runId} and a.progress = 'pending'
             and a.approval = 'approved')`;
    }
    const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: runId });
    await changeRun(work, runId, 'itsm_run.applying', {
      status: 'running',
      stage: 'apply',
      job_id,
      ...(run.stopped !== null && overrideLimit ? { limit_overridden_by: ctx.caller.userId } : {}),
    });
  });
}

async function requireUnpaused(sql: Transaction, mappingId: string | null): Promise<void> {
  const rows = await query(sql).rows`select m.is_active and c.is_active as active from itsm_mappings m
     join itsm_connections c on c.id = m.connection_id where m.id = ${mappingId}`;
  if (rows[0]?.active) return;
  throw new EstateError('wrong_state', 'The mapping or its connection is paused or deleted.');
}

/**
 * Cancels a run that is queued, running or in review. Applied rows stay applied. The next run reads the record again that was
 * being written. A scheduled run that was deferred until the end of this run is cancelled as well.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`.
 */
export async function cancelRun(ctx: Ctx, runId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    requireStatus(run, 'queued', 'running', 'review');
    await query(sql).run`update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ${run.job_id} and status in ('queued', 'running')`;
    await query(sql)
      .run`select pg_notify(${JOB_CANCEL_CHANNEL}, ${run.job_id ?? ''}), pg_notify(${JOB_STATE_CHANNEL}, ${run.job_id ?? ''})`;
    await abortRun(work, run, { status: 'cancelled' });
    if (run.mapping_id !== null) await clearDue(sql, run.mapping_id);
  });
}

/**
 * Checks that an undo run may start, and supersedes a plan in review.
 * @throws EstateError `not_found`, `wrong_state` if the mapping or its connection is paused, or a run is queued or running.
 */
export async function prepareUndo(ctx: Ctx, work: Work, mappingId: string): Promise<void> {
  const mapping = await lockMapping(work.sql, mappingId);
  requireRunnable(mapping, mappingId, mapping.sync_direction);
  await requireRunRights(ctx, work, mapping.connection_id, mappingId, mapping.sync_direction);
  await supersedeOpenPlan(ctx, work, mappingId, 'undo');
}
