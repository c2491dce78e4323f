import { requirePermission } from '../../../domain/access/policy.ts';
import { command, type Work } from '../../../domain/command.ts';
import type { Ctx } from '../../../domain/context.ts';
import { lockBook } from '../../../domain/itsm/book.read.ts';
import { MANAGE_SYNC } from '../../../domain/itsm/connections.queries.ts';
import { type AppliedRow, isTakenBack, walkAppliedBack } from '../../../domain/itsm/plan.journal.ts';
import { addPlanRows, countPlan } from '../../../domain/itsm/runs.plan.ts';
import { makeRoomForUndo } from '../../../domain/itsm/runs.start.ts';
import { changeRun, insertRun, loadRun } from '../../../domain/itsm/runs.store.ts';
import { enqueueJob } from '../../../domain/jobs/jobs.enqueue.ts';
import { itsmRunJob } from '../../../domain/jobs/kinds/itsm-run.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outcome } from '../engine/apply.types.ts';
import { emptyBook } from '../engine/book.ts';
import { undoPlan } from '../engine/undo.ts';
import { loadPairs } from '../port/book.rows.ts';
import { planRowOf, storedRow } from '../port/plan.rows.ts';
import type { RunClosing } from './run.plan.ts';

/** Rows that are turned round at once. */
const CHUNK = 500;
/** Above the number of every row. */
const END = 2 ** 31 - 1;

/**
 * Starts a run that takes another one back, row by row from its end: each only while what it takes back is still as it
 * was left. A plan of the mapping that waits for review gives way to it.
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
    const book = await lockBook(sql, run.mapping_id);
    const closing: RunClosing = {
      again: book.again,
      absences: {},
      watermark: book.watermark,
      linksWatermark: book.links_watermark,
      localPosition: book.local_position,
      completeReadAt: book.complete_read_at,
    };
    const id = await insertRun(work, {
      connection_id: run.connection_id,
      mapping_id: run.mapping_id,
      direction: run.direction,
      trigger: 'undo',
      status: 'queued',
      stage: 'apply',
      complete: false,
      auto_apply: true,
      mapping: JSON.stringify(run.mapping),
      closing: JSON.stringify(closing),
      plan_made_at: sql.raw('clock_timestamp()'),
      undo_of: runId,
      created_by: ctx.caller.userId,
    });
    const rows = await turnRound(work, { of: runId, into: id, mappingId: run.mapping_id });
    if (rows === 0) throw refuse('The run has applied nothing.');
    const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: id });
    const planned = await countPlan(sql, id);
    await changeRun(work, id, 'itsm_run.planned', { job_id }, { planned });
    return id;
  });
}

/** Stores the opposite of each applied row. @returns how many there are. */
async function turnRound(
  { sql }: Work,
  { of, into, mappingId }: { of: string; into: string; mappingId: string },
): Promise<number> {
  let count = 0;
  for (let before = END; ; ) {
    const chunk = await walkAppliedBack(sql, of, before, CHUNK);
    if (chunk.length === 0) break;
    before = chunk.at(-1)!.no;
    const rows = chunk.map(planRowOf).reverse();
    const { pairs } = await loadPairs(sql, mappingId, { remoteIds: chunk.flatMap(recordsOf) });
    const plan = {
      id: of,
      mappingId,
      madeAt: '',
      rows,
      stopped: null,
      closing: { watermark: null, again: [], absences: {} },
    };
    const outcomes = new Map(chunk.map((one) => [one.no, outcomeOf(one)]));
    const back = undoPlan(into, plan, outcomes, { ...emptyBook(), pairs }, '').rows;
    await addPlanRows(
      sql,
      into,
      back.map((row) => storedRow({ ...row, no: count + row.no })),
      true,
    );
    count += back.length;
    if (chunk.length < CHUNK) break;
  }
  return count;
}

function recordsOf({ remote_id, side, made_id }: AppliedRow): string[] {
  if (remote_id !== null) return [remote_id];
  return side === 'remote' && made_id !== null ? [made_id] : [];
}

const outcomeOf = ({ made_id }: AppliedRow): Outcome => ({
  progress: 'applied',
  message: null,
  ...(made_id === null ? {} : { madeId: made_id }),
});
