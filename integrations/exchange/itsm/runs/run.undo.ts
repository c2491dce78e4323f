import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { lockSyncState } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow } from '../../../../domain/exchange/itsm/itsm.model.ts';
import { changeRun, insertRun, loadRun, logRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { prepareUndo } from '../../../../domain/exchange/itsm/runs.review.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { counted } from '../../../../platform/counted.ts';
import { inTransaction, query, type Sql } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { AppliedRow } from '../engine/plan.types.ts';
import { invertRows } from '../engine/undo.ts';
import {
  addPlanRows,
  countApplied,
  countPlan,
  findPlannedRecords,
  readAppliedBackwards,
} from '../store/plan-rows.ts';
import { loadPairs, type PairSelector } from '../store/sync-state.ts';
import type { RunClosing } from './run.plan.ts';
import { fullReadNext } from './run.read.ts';
import type { RunJob, Stopwatch } from './run.state.ts';

/**
 * Starts a run that undoes another one. It supersedes a plan of the mapping that is in review. Its job plans the rows.
 * @returns the id of the new run.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` when nothing was applied, the run was undone already, its
 *   mapping is deleted or paused, or a run is active.
 */
export async function undoRun(ctx: Ctx, runId: string): Promise<string> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    const refuse = (why: string) => new EstateError('wrong_state', why, { extra: { run_id: runId } });
    if (run.mapping_id === null) throw refuse('The mapping of the run was deleted.');
    await prepareUndo(ctx, work, run.mapping_id);
    if (await isUndone(sql, runId)) throw refuse('The run was undone already.');
    if ((await countApplied(sql, runId)) === 0) throw refuse('The run has applied nothing.');
    return await insertRun(ctx, work, {
      connection_id: run.connection_id,
      mapping_id: run.mapping_id,
      direction: run.direction,
      trigger: 'undo',
      stage: 'plan',
      complete: false,
      auto_apply: true,
      mapping: JSON.stringify(run.mapping),
      undo_of: runId,
    });
  });
}

/** Whether a run has undone this one, or is undoing it. */
async function isUndone(sql: Sql, runId: string): Promise<boolean> {
  return await query(sql).value`select exists (select from itsm_runs where undo_of = ${runId}
       and status in ('queued', 'running', 'review', 'completed')) as undone`;
}

/** The number of rows that are inverted together. */
const CHUNK = 500;

/** If the undo has more records than this, the next run reads everything instead of these records. */
const MAX_READ_AGAIN = 2_000;

/** The checkpoint of planning an undo. */
interface UndoCheckpoint {
  /** Rows with this number or higher are inverted; the order is descending. */
  before: number;
  /** The number of planned rows. */
  made: number;
}

/** The initial checkpoint: greater than the number of any row. */
const END: UndoCheckpoint = { before: 2 ** 31 - 1, made: 0 };

type UndoJob = Pick<RunJob, 'ctx' | 'signal' | 'checkpoint' | 'lock'>;

/** Plans the opposite of each applied row of the undone run, from the last to the first. Resumes from the checkpoint. */
export async function planUndo(job: UndoJob, run: RunRow, { seconds, timed }: Stopwatch): Promise<void> {
  const { db } = job.ctx;
  const { undo_of: of, mapping_id: mappingId } = run;
  if (of === null) throw new EstateError('wrong_state', 'The run to undo was deleted.');
  await timed('plan', async () => {
    const all = await countApplied(db, of);
    for (let at = (run.checkpoint as UndoCheckpoint | null) ?? END; ; ) {
      job.signal.throwIfAborted();
      const chunk = await readAppliedBackwards(db, of, at.before, CHUNK);
      if (chunk.length === 0) return;
      const { pairs } = await loadPairs(db, mappingId, recordsAndCardsOf(chunk));
      const rows = invertRows(of, chunk, pairs, at.made);
      at = { before: chunk.at(-1)!.row.no, made: at.made + rows.length };
      await inTransaction(db, async (sql) => {
        await addPlanRows(sql, run.id, rows, true);
        await sql('itsm_runs')
          .where({ id: run.id })
          .update({ checkpoint: JSON.stringify(at) });
        const message = `${at.made} of ${counted(all, 'row')} planned`;
        await job.checkpoint({ sql }, { progress: (0.4 * at.made) / Math.max(all, 1), message });
      });
    }
  });
  await command(job.ctx, async ({ sql, emit }) => {
    await job.lock({ sql });
    const syncState = await lockSyncState(sql, mappingId);
    const again = await findPlannedRecords(sql, run.id, MAX_READ_AGAIN);
    const closing: RunClosing = {
      // the next run reads the undone records, although they may be unchanged at the remote
      ...syncState,
      ...(again === null && fullReadNext),
      again: [...new Set([...syncState.again, ...(again ?? [])])].sort(),
      absences: {},
    };
    const planned = await countPlan(sql, run.id);
    const count = Object.values(planned).reduce((sum, n) => sum + n, 0);
    await logRun(sql, run.id, 'plan', 'info', `The run ${of} is undone by ${counted(count, 'row')}.`);
    const change = {
      stage: 'apply',
      closing: JSON.stringify(closing),
      plan_made_at: sql.raw('clock_timestamp()'),
    } as const;
    await changeRun({ sql, emit }, run.id, 'itsm_run.planned', change, { planned, seconds });
  });
}

/** The records of the rows, and the cards of rows whose record the plan has created. */
const recordsAndCardsOf = (rows: readonly AppliedRow[]): PairSelector => ({
  remoteIds: rows.flatMap(
    ({ row, createdId }) => row.remoteId ?? (row.side === 'remote' ? createdId : null) ?? [],
  ),
  cardIds: rows.flatMap(({ row, createdId }) =>
    row.remoteId === null && createdId === null ? (row.cardId ?? []) : [],
  ),
});
