import { lockBook } from '../../../domain/exchange/itsm/book.read.ts';
import {
  type AppliedRow,
  countApplied,
  walkAppliedBack,
} from '../../../domain/exchange/itsm/plan.journal.ts';
import { addPlanRows, countPlan, plannedRecords } from '../../../domain/exchange/itsm/runs.plan.ts';
import { changeRun, logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunRow } from '../../../domain/exchange/itsm/runs.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import { type Db, inTransaction } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outcome, PlanRow } from '../engine/plan.types.ts';
import { emptyBook } from '../engine/state.ts';
import { undoPlan } from '../engine/undo.ts';
import { loadPairs } from '../port/book.rows.ts';
import { planRowOf, storedRow } from '../port/plan.rows.ts';
import type { RunJob } from './run.begin.ts';
import type { RunClosing } from './run.plan.ts';
import { reachedBefore, readingAll } from './run.reach.ts';
import type { Stopwatch } from './run.stopwatch.ts';

/** Rows that are turned round at once. */
const CHUNK = 500;

/** With more records than this the next run reads everything instead of these alone. */
const READ_AGAIN = 2_000;

/** How far the turning has come. */
interface Turned {
  /** Rows from here on are done; they are gone through from the end. */
  before: number;
  /** So many rows were made of them. */
  made: number;
}

/** Above the number of every row. */
const END: Turned = { before: 2 ** 31 - 1, made: 0 };

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
    for (let at = (run.checkpoint as Turned | null) ?? END; ; ) {
      job.signal.throwIfAborted();
      const chunk = await walkAppliedBack(db, of, at.before, CHUNK);
      if (chunk.length === 0) return;
      const rows = await turnRound(db, { of, into: run.id, mappingId, first: at.made }, chunk);
      at = { before: chunk.at(-1)!.no, made: at.made + rows.length };
      await inTransaction(db, async (sql) => {
        await addPlanRows(sql, run.id, rows.map(storedRow), true);
        await sql('itsm_runs')
          .where({ id: run.id })
          .update({ checkpoint: JSON.stringify(at) });
        const message = `${at.made} of ${all} rows turned round`;
        await job.checkpoint({ sql }, { progress: (0.4 * at.made) / Math.max(all, 1), message });
      });
    }
  });
  await command(job.ctx, async ({ sql, emit }) => {
    await job.hold({ sql });
    const book = await lockBook(sql, mappingId);
    const again = await plannedRecords(sql, run.id, READ_AGAIN);
    const reached = reachedBefore(book);
    const closing: RunClosing = {
      // the next run finds what this one takes back, though nothing of it has changed over there
      ...(again === null ? readingAll(reached) : reached),
      again: [...new Set([...book.again, ...(again ?? [])])].sort(),
      absences: {},
    };
    const planned = await countPlan(sql, run.id);
    const count = Object.values(planned).reduce((sum, n) => sum + n, 0);
    await logRun(sql, run.id, 'plan', 'info', `${count} rows of the run ${of} are taken back.`);
    const change = {
      stage: 'apply',
      closing: JSON.stringify(closing),
      plan_made_at: sql.raw('clock_timestamp()'),
    } as const;
    await changeRun({ sql, emit }, run.id, 'itsm_run.planned', change, { planned, seconds });
  });
}

/** The opposite of applied rows, which come from the last to the first. */
async function turnRound(
  db: Db,
  { of, into, mappingId, first }: { of: string; into: string; mappingId: string; first: number },
  chunk: readonly AppliedRow[],
): Promise<PlanRow[]> {
  const cardIds = chunk.flatMap(({ remote_id, made_id, card_id }) =>
    remote_id === null && made_id === null ? (card_id ?? []) : [],
  );
  const { pairs } = await loadPairs(db, mappingId, { remoteIds: chunk.flatMap(recordsOf), cardIds });
  const plan = {
    id: of,
    mappingId,
    madeAt: '',
    rows: chunk.map(planRowOf).reverse(),
    stopped: null,
    closing: { watermark: null, again: [], absences: {} },
  };
  const outcomes = new Map(chunk.map((one) => [one.no, outcomeOf(one)]));
  const { rows } = undoPlan(into, plan, outcomes, { ...emptyBook(), pairs }, '');
  return rows.map((row) => ({ ...row, no: first + row.no }));
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
