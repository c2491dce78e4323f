import { readRefusals } from '../../../domain/exchange/itsm/questions.refused.ts';
import { countLivePairs } from '../../../domain/exchange/itsm/runs.heard.ts';
import { addPlanRows, dropPlan, readWords, unknownRecords } from '../../../domain/exchange/itsm/runs.plan.ts';
import {
  addWaiting,
  dropWaiting,
  endWaiting,
  type WaitingRecord,
} from '../../../domain/exchange/itsm/waiting.ts';
import type { Waits } from '../engine/plan.fields.ts';
import { forgetReached } from '../engine/plan.links.ts';
import { type PartTools, planInParts, removes, tooMany } from '../engine/plan.ts';
import { acts, type Plan } from '../engine/plan.types.ts';
import { storedRow } from '../port/plan.rows.ts';
import { planSource } from './plan.source.ts';
import { type Reached, reachedBy } from './run.reach.ts';
import type { RunWork } from './run.types.ts';

/** Records that are kept at once. */
const CHUNK = 1_000;

/** What a plan comes to when all its rows have ended; the engine's, with what else the book remembers. */
export type RunClosing = Plan['closing'] & Reached;

/** A plan in figures. */
export interface MadePlan {
  /** Why it may not be applied without a person's word. */
  stopped: string | null;
  /** Rows that change something. */
  changes: number;
  /** Pairs that were there when it was made. */
  pairs: number;
  /** Relations that wait for a mapping that does not run now. */
  resting: number;
  closing: RunClosing;
}

/**
 * Makes the plan from what was read and stores its rows, a part at a time. A process that was killed makes it anew:
 * nothing is asked of the remote for it. @param approved whether its rows are stored as approved.
 */
export async function planRun(
  work: RunWork,
  tools: PartTools,
  told: (rows: number) => void,
  approved = false,
): Promise<MadePlan> {
  const { db, runId, mappingId, loaded } = work;
  await work.keep({}, async (sql) => {
    await dropPlan(sql, runId);
    await dropWaiting(sql, mappingId);
  });
  const waits: Waits = new Map();
  const again = new Set<string>();
  const absences: Record<string, number> = {};
  const count = { rows: 0, removals: 0, changes: 0, resting: 0 };
  // a part is stored while the next one is made
  let storing = Promise.resolve();
  // what was refused is tried again with each complete reading: its cause may have gone
  const refusals = work.complete ? [] : await readRefusals(db, mappingId);
  const mapping = work.connector.absenceProvesNothing
    ? { ...loaded.mapping, deletion: { ...loaded.mapping.deletion, completeReads: 0 } }
    : loaded.mapping;
  const source = planSource(work, { ...(await readWords(db, mappingId)), refusals }, () => storing);
  try {
    for await (const { rows, ...part } of planInParts(mapping, source, tools)) {
      work.signal.throwIfAborted();
      for (const id of part.again) again.add(id);
      for (const [id, wait] of part.waits) waits.set(id, wait);
      forgetReached(waits, part.reached);
      Object.assign(absences, part.absences);
      count.resting += part.resting;
      if (rows.length === 0) continue;
      count.rows += rows.length;
      count.removals += rows.filter(removes).length;
      count.changes += rows.filter(acts).length;
      await storing;
      storing = work.keep({}, (sql) => addPlanRows(sql, runId, rows.map(storedRow), approved));
      storing.catch(() => {});
      told(count.rows);
    }
  } finally {
    // nothing is written any more once the run has been left; what it fails with is thrown below
    await storing.catch(() => {});
  }
  await storing;
  for (const id of await unknownRecords(db, runId, mappingId)) again.add(id);
  await keepWaiting(work, waits, again);
  const pairs = await countLivePairs(db, mappingId);
  return {
    stopped: tooMany(loaded.mapping, count.removals, pairs),
    changes: count.changes,
    pairs,
    resting: count.resting,
    closing: { ...reachedBy(work), again: [...again].sort(), absences },
  };
}

/** Keeps what waits for others, so that the remote need not be asked for it. */
async function keepWaiting(work: RunWork, waits: Waits, again: Set<string>): Promise<void> {
  const { runId, mappingId, state } = work;
  // a record that was read without some of its columns is read again
  if (state.hidden.length > 0) for (const id of waits.keys()) again.add(id);
  const waiting = [...waits].flatMap(([remote_id, { records, cards }]): WaitingRecord[] =>
    again.has(remote_id) ? [] : [{ remote_id, records: [...records], cards: [...cards] }],
  );
  for (let at = 0; at < waiting.length; at += CHUNK) {
    work.signal.throwIfAborted();
    await work.keep({}, (sql) => addWaiting(sql, mappingId, runId, waiting.slice(at, at + CHUNK)));
  }
  // what a run of one direction has nothing to do with may wait for one of the other
  if (state.hidden.length > 0 || work.loaded.mapping.direction !== work.mappingDirection) return;
  await work.keep({}, (sql) => endWaiting(sql, mappingId, runId));
}
