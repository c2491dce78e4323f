import { bookChanges } from './apply.changes.ts';
import { localObjection, remoteObjection } from './apply.check.ts';
import { applyRemote } from './apply.remote.ts';
import type { EnginePort, LocalWrite, Outcome, Progress } from './apply.types.ts';
import type { BookChange } from './book.types.ts';
import type { Mapping, Path } from './mapping.types.ts';
import { acts, type Plan, type PlanRow } from './plan.types.ts';
import type { Value } from './values.ts';

/** Which rows are to be applied; the others stay as they are and can be applied later. */
export interface ApplyOptions {
  /** Rows that were approved; all unless given. */
  approved?: ReadonlySet<number>;
  /** Apply though the breaker has stopped the plan: a person has looked at the removals. */
  despiteBreaker?: boolean;
}

/** How applying ended: `lost` when an answer did not come even after asking again, so that it has to be resumed. */
export interface Applied {
  status: 'done' | 'stopped' | 'lost';
  message: string | null;
  counts: Record<Progress, number>;
}

/**
 * Applies a plan row by row, each only while the state it was made from holds. Called again after a kill it goes on
 * where it was: rows that ended are passed over, and a row whose write was sent is looked up before it is sent again.
 */
export async function applyPlan(
  mapping: Mapping,
  plan: Plan,
  port: EnginePort,
  { approved, despiteBreaker = false }: ApplyOptions = {},
): Promise<Applied> {
  const counts: Applied['counts'] = { pending: 0, begun: 0, applied: 0, stale: 0, refused: 0, skipped: 0 };
  if (plan.stopped !== null && !despiteBreaker) return { status: 'stopped', message: plan.stopped, counts };
  const ended = new Map<number, Progress>();
  const again = new Set(plan.closing.again);
  for (const row of plan.rows) {
    let progress = await port.progressOf(row);
    const wanted = progress === 'begun' || approved === undefined || approved.has(row.no);
    if (wanted && (progress === 'pending' || progress === 'begun')) {
      const outcome = await applyRow(mapping, plan, row, port, progress === 'begun', ended);
      if (outcome === 'lost') {
        counts.begun += 1;
        return { status: 'lost', message: `No answer came to row ${row.no}.`, counts };
      }
      progress = outcome.progress;
    }
    ended.set(row.no, progress);
    counts[progress] += 1;
    const open = progress === 'stale' || progress === 'refused' || (progress === 'pending' && acts(row));
    if (open && row.remoteId !== null) again.add(row.remoteId);
  }
  if (approved === undefined || counts.pending === 0) await port.close(closing(plan, again));
  return { status: 'done', message: null, counts };
}

function closing(plan: Plan, again: ReadonlySet<string>): BookChange[] {
  const { absences, watermark } = plan.closing;
  return [
    ...Object.entries(absences).map(
      ([remoteId, count]): BookChange => ({ op: 'absences', remoteId, absences: count }),
    ),
    { op: 'again', remoteIds: [...again].sort() },
    { op: 'watermark', watermark },
  ];
}

async function applyRow(
  mapping: Mapping,
  plan: Plan,
  row: PlanRow,
  port: EnginePort,
  begun: boolean,
  ended: ReadonlyMap<number, Progress>,
): Promise<Outcome | 'lost'> {
  if (!acts(row)) return await finish(port, row, { progress: 'skipped', message: row.reason }, []);
  if (row.needs !== null && ended.get(row.needs) !== 'applied') {
    const message = `Row ${row.needs}, which this one builds on, was not applied.`;
    return await finish(port, row, { progress: 'stale', message }, []);
  }
  if (row.side === 'remote') return await applyRemote(mapping, plan.id, row, port, begun);
  if (row.side === 'local') return await applyLocal(mapping, row, port);
  const objection = localObjection(mapping, row, await port.stateOf(row));
  if (objection !== null) return await finish(port, row, { progress: 'stale', message: objection }, []);
  const changes = bookChanges(mapping, row, row);
  return await finish(port, row, { progress: 'applied', message: null }, changes);
}

async function applyLocal(mapping: Mapping, row: PlanRow, port: EnginePort): Promise<Outcome> {
  if (row.expects.record && row.remoteId !== null) {
    const state = await port.readRemote(mapping.table, row.remoteId);
    const objection = remoteObjection(mapping, row, state);
    if (objection !== null) return await finish(port, row, { progress: 'stale', message: objection }, []);
  }
  return await port.writeLocal(
    row,
    localWrite(mapping, row),
    (state) => localObjection(mapping, row, state),
    (card) => bookChanges(mapping, row, { card, cardId: card?.id ?? row.cardId, remoteId: row.remoteId }),
  );
}

function localWrite(mapping: Mapping, row: PlanRow): LocalWrite {
  const values: Record<Path, Value> = {};
  for (const [path, { new: value }] of Object.entries(row.diff)) values[path] = value;
  const cardId = row.cardId ?? '';
  switch (row.action) {
    case 'create':
      return { kind: 'create', cardType: mapping.cardType, values };
    case 'delete':
      return { kind: 'archive', cardId };
    case 'restore':
      return { kind: 'restore', cardId };
    case 'relate':
    case 'unrelate':
      return { kind: row.action, ...row.cards! };
    default:
      return { kind: 'update', cardId, values };
  }
}

/** Stores how a row ended. */
async function finish(
  port: EnginePort,
  row: PlanRow,
  outcome: Outcome,
  changes: BookChange[],
): Promise<Outcome> {
  await port.finish(row, outcome, changes);
  return outcome;
}
