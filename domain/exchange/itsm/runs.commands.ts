import type { Knex } from 'knex';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireRunRights } from './connections.owner.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { forgetDue } from './runs.due.ts';
import { breakOffRun } from './runs.end.ts';
import { itsmRunJob } from './runs.job.ts';
import { changeRun, loadRun, requireStatus } from './runs.store.ts';

/** Which rows of a plan are meant; all that wait unless given. */
export interface RowChoice {
  rows?: readonly number[];
  action?: string;
}

const waiting = `run_id = ? and progress = 'pending' and action not in ('conflict', 'stage', 'skip')`;

/**
 * Approves or rejects rows of a plan that waits for review; a later word takes the place of an earlier one.
 * @returns how many rows it is about.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`; `validation_failed` where a row does not wait.
 */
export async function decideRows(
  ctx: Ctx,
  runId: string,
  word: 'approved' | 'rejected',
  choice: RowChoice,
): Promise<number> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const run = await loadRun(work.sql, runId, 'for update');
    requireStatus(run, 'review');
    const count = await mark(work.sql, ctx, runId, word, choice);
    if (count > 0) {
      const more = { word, count, ...choice };
      await changeRun(work, runId, 'itsm_run.decided', {}, {}, more);
    }
    return count;
  });
}

async function mark(
  sql: Knex.Transaction,
  ctx: Ctx,
  runId: string,
  word: 'approved' | 'rejected',
  { rows, action }: RowChoice,
): Promise<number> {
  const chosen = rows && [...new Set(rows)];
  const { rows: marked } = await sql.raw(
    `with marked as (
       update itsm_plan_rows set approval = ?, decided_by = ?
       where ${waiting} ${chosen ? 'and no = any(?::integer[])' : ''} ${action ? 'and action = ?' : ''}
       returning 1
     ) select count(*)::int as n from marked`,
    [word, ctx.caller.userId, runId, ...(chosen ? [chosen] : []), ...(action ? [action] : [])] as never,
  );
  const count: number = marked[0].n;
  if (chosen && !action && count < chosen.length) {
    throw invalidField('rows', 'unknown_row', 'Some of the rows are not in the plan, or do not wait.');
  }
  return count;
}

/**
 * Has a plan applied: the given rows, else those that were approved, and where none were, all that were not rejected.
 * @param overrule apply although the breaker has stopped the plan.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`, `validation_failed`.
 */
export async function applyRows(
  ctx: Ctx,
  runId: string,
  { rows, overrule = false }: { rows?: readonly number[]; overrule?: boolean },
): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    requireStatus(run, 'review');
    await requireUnpaused(sql, run.mapping_id);
    await requireRunRights(ctx, work, run.connection_id, run.mapping_id!, run.direction);
    if (run.stopped !== null && run.stopped_overruled_by === null && !overrule) {
      throw new EstateError('wrong_state', `The plan was stopped: ${run.stopped}`, {
        extra: { run_id: runId, stopped: run.stopped },
      });
    }
    if (rows) await mark(sql, ctx, runId, 'approved', { rows });
    else {
      await sql.raw(
        `update itsm_plan_rows set approval = 'approved', decided_by = ? where ${waiting} and approval is null
           and not exists (select from itsm_plan_rows a where a.run_id = ? and a.progress = 'pending'
             and a.approval = 'approved')`,
        [ctx.caller.userId, runId, runId] as never,
      );
    }
    const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: runId });
    await changeRun(work, runId, 'itsm_run.applying', {
      status: 'running',
      stage: 'apply',
      job_id,
      ...(run.stopped !== null && overrule ? { stopped_overruled_by: ctx.caller.userId } : {}),
    });
  });
}

async function requireUnpaused(sql: Knex.Transaction, mappingId: string | null): Promise<void> {
  const { rows } = await sql.raw(
    `select m.is_active and c.is_active as active from itsm_mappings m
     join itsm_connections c on c.id = m.connection_id where m.id = ?`,
    [mappingId],
  );
  if (rows[0]?.active) return;
  throw new EstateError('wrong_state', 'The mapping or its connection is paused, or gone.');
}

/**
 * Ends a run that waits or is under way. What it has applied stays applied; a row that was being written is looked at
 * by the next run. A scheduled run that has waited for its end is given up with it.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`.
 */
export async function cancelRun(ctx: Ctx, runId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    requireStatus(run, 'queued', 'running', 'review');
    await sql.raw(
      `update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ? and status in ('queued', 'running')`,
      [run.job_id] as never,
    );
    await sql.raw('select pg_notify(?, ?), pg_notify(?, ?)', [
      JOB_CANCEL_CHANNEL,
      run.job_id ?? '',
      JOB_STATE_CHANNEL,
      run.job_id ?? '',
    ]);
    await breakOffRun(work, run, { status: 'cancelled' });
    if (run.mapping_id !== null) await forgetDue(sql, run.mapping_id);
  });
}
