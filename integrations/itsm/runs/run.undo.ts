import { MANAGE_SYNC } from '../../../domain/exchange/itsm/connections.queries.ts';
import { lockSyncState } from '../../../domain/exchange/itsm/mappings.load.ts';
import { prepareUndo } from '../../../domain/exchange/itsm/runs.commands.ts';
import { itsmRunJob } from '../../../domain/exchange/itsm/runs.job.ts';
import type { RunRow } from '../../../domain/exchange/itsm/runs.store.ts';
import { changeRun, insertRun, loadRun, logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { enqueueJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { counted } from '../../../platform/counted.ts';
import { type Db, inTransaction, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outcome, PlanRow } from '../engine/plan.types.ts';
import { emptySyncState } from '../engine/state.ts';
import { undoPlan } from '../engine/undo.ts';
import { loadPairs } from '../store/pairs.ts';
import {
  type AppliedRow,
  addPlanRows,
  countApplied,
  countPlan,
  plannedRecords,
  readAppliedBackwards,
} from '../store/plan-rows.ts';
import type { RunJob } from './run.begin.ts';
import type { RunClosing } from './run.plan.ts';
import { previousProgress, type Stopwatch, withFullReadNext } from './run.state.ts';

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
    await prepareUndo(ctx, work, run.mapping_id);
    if (await isUndone(sql, runId)) throw refuse('The run was taken back already.');
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

/** Whether a run has undone this one, or is undoing it. */
async function isUndone(sql: Sql, runId: string): Promise<boolean> {
  const { rows } = await sql.raw(
    `select exists (select from itsm_runs where undo_of = ?
       and status in ('queued', 'running', 'review', 'completed')) as taken`,
    [runId],
  );
  return rows[0].taken;
}

/** Rows that are turned round at once. */
const CHUNK = 500;

/** With more records than this the next run reads everything instead of these alone. */
const READ_AGAIN = 2_000;

/** How far the turning has come. */
interface UndoProgress {
  /** Rows from here on are done; they are gone through from the end. */
  before: number;
  /** So many rows were made of them. */
  made: number;
}

/** Above the number of every row. */
const END: UndoProgress = { before: 2 ** 31 - 1, made: 0 };

/** What turning round needs to know of the job. */
type UndoJob = Pick<RunJob, 'ctx' | 'signal' | 'checkpoint' | 'hold'>;

/**
 * Makes the plan of a run that takes another one back: the opposite of each applied row, from the last to the first.
 * Called again after a kill it goes on where it was.
 */
export async function planUndo(job: UndoJob, run: RunRow, { seconds, timed }: Stopwatch): Promise<void> {
  const { db } = job.ctx;
  const { undo_of: of, mapping_id: mappingId } = run;
  if (of === null) throw new EstateError('wrong_state', 'The run that was to be taken back is gone.');
  await timed('plan', async () => {
    const all = await countApplied(db, of);
    for (let at = (run.checkpoint as UndoProgress | null) ?? END; ; ) {
      job.signal.throwIfAborted();
      const chunk = await readAppliedBackwards(db, of, at.before, CHUNK);
      if (chunk.length === 0) return;
      const rows = await invertRows(db, { of, into: run.id, mappingId, first: at.made }, chunk);
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
    await job.hold({ sql });
    const syncState = await lockSyncState(sql, mappingId);
    const again = await plannedRecords(sql, run.id, READ_AGAIN);
    const reached = previousProgress(syncState);
    const closing: RunClosing = {
      // the next run finds what this one takes back, though nothing of it has changed over there
      ...(again === null ? withFullReadNext(reached) : reached),
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

/** The opposite of applied rows, which come from the last to the first. */
async function invertRows(
  db: Db,
  { of, into, mappingId, first }: { of: string; into: string; mappingId: string; first: number },
  chunk: readonly AppliedRow[],
): Promise<PlanRow[]> {
  const cardIds = chunk.flatMap(({ row, createdId }) =>
    row.remoteId === null && createdId === null ? (row.cardId ?? []) : [],
  );
  const { pairs } = await loadPairs(db, mappingId, { remoteIds: chunk.flatMap(recordsOf), cardIds });
  const plan = {
    id: of,
    mappingId,
    createdAt: '',
    rows: chunk.map(({ row }) => row).reverse(),
    stopped: null,
    closing: { watermark: null, again: [], absences: {} },
  };
  const outcomes = new Map(chunk.map((one) => [one.row.no, outcomeOf(one)]));
  const { rows } = undoPlan(into, plan, outcomes, { ...emptySyncState(), pairs }, '');
  return rows.map((row) => ({ ...row, no: first + row.no }));
}

function recordsOf({ row: { remoteId, side }, createdId }: AppliedRow): string[] {
  if (remoteId !== null) return [remoteId];
  return side === 'remote' && createdId !== null ? [createdId] : [];
}

const outcomeOf = ({ createdId }: AppliedRow): Outcome => ({
  progress: 'applied',
  message: null,
  ...(createdId === null ? {} : { createdId }),
});
