import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import {
  localObjection,
  remoteObjection,
  sourceObjection,
  stateChanges,
  takesFromRecord,
} from './apply.check.ts';
import { applyRemote } from './apply.remote.ts';
import {
  type Applying,
  type ApplyOptions,
  inWindows,
  needsObjection,
  resolveReferences,
  without,
} from './apply.rows.ts';
import type { Path, StateChange } from './model.types.ts';
import { acts } from './plan.ts';
import type {
  EnginePort,
  LocalStep,
  LocalWrite,
  PlanHead,
  PlanRow,
  Progress,
  RemoteState,
  RowResult,
  TrackedRow,
} from './plan.types.ts';

/** How applying ended: `lost` when an answer did not come even after asking again, so that it has to be resumed. */
export interface Applied {
  status: 'done' | 'stopped' | 'lost';
  message: string | null;
  counts: Record<Progress, number>;
}

/**
 * Applies a plan in its order, many rows at once where they do not touch each other, and each only while the state it
 * was made from holds. Called again after a kill it goes on where it was: rows that ended are passed over, and a row
 * whose write was sent is looked up before it is sent again.
 */
export async function applyPlan(
  mapping: Mapping,
  plan: PlanHead,
  port: EnginePort,
  options: ApplyOptions = {},
): Promise<Applied> {
  const counts: Applied['counts'] = { pending: 0, begun: 0, applied: 0, stale: 0, refused: 0, skipped: 0 };
  if (plan.stopped !== null && !options.ignoreLimit) {
    return { status: 'stopped', message: plan.stopped, counts };
  }
  const applying: Applying = { mapping, planId: plan.id, port, options, ended: new Map() };
  const again = new Set(plan.closing.again);
  let undecided = 0;
  for await (const standing of port.rows()) {
    const wanted = standing.filter((one) => isWanted(one, options));
    for (const { row, progress } of standing) applying.ended.set(row.no, progress);
    const lost = await applyRows(applying, wanted);
    for (const { row, approval } of standing) {
      const progress = applying.ended.get(row.no)!;
      counts[progress] += 1;
      if (progress === 'pending' && approval === null) undecided += 1;
      if (row.remoteId !== null && isOpen(row, progress)) again.add(row.remoteId);
    }
    if (lost !== null) return { status: 'lost', message: `No answer came to row ${lost}.`, counts };
  }
  if (undecided === 0) await port.close(closing(plan, again));
  return { status: 'done', message: null, counts };
}

function isWanted({ row, progress, approval }: TrackedRow, { approvedOnly = false }: ApplyOptions): boolean {
  if (progress === 'begun') return true;
  if (progress !== 'pending') return false;
  if (!acts(row)) return true;
  return approvedOnly ? approval === 'approved' : approval !== 'rejected';
}

/** Whether the next run has to look at the row's record again. */
const isOpen = (row: PlanRow, progress: Progress): boolean =>
  progress === 'stale' || progress === 'refused' || (progress === 'pending' && acts(row));

/** @returns the number of a row of which the answer stays away. */
async function applyRows(applying: Applying, wanted: readonly TrackedRow[]): Promise<number | null> {
  for (const { locals, remotes } of inWindows(wanted)) {
    await applyLocal(applying, await resolveReferences(applying, locals));
    if (remotes.length === 0) continue;
    const lost = await applyRemote(applying, await resolveReferences(applying, remotes));
    if (lost !== null) return lost;
  }
  return null;
}

function closing(plan: PlanHead, again: ReadonlySet<string>): StateChange[] {
  const { absences, watermark } = plan.closing;
  return [
    ...Object.entries(absences).map(
      ([remoteId, count]): StateChange => ({ op: 'absences', remoteId, absences: count }),
    ),
    { op: 'again', remoteIds: [...again].sort() },
    { op: 'watermark', watermark },
  ];
}

/** Applies rows that write in the inventory or in the sync state alone, in one transaction. */
async function applyLocal(applying: Applying, rows: readonly TrackedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { port, ended } = applying;
  const records = await lookedAt(applying, rows);
  const outcomes = await port.writeLocal(rows.map(({ row }) => stepOf(applying, row, records)));
  for (const [n, { row }] of rows.entries()) ended.set(row.no, outcomes[n]!.progress);
}

/** The records that the rows rely on, as they are: what is to be removed because of them, or filled from them. */
async function lookedAt(
  { mapping, port, options }: Applying,
  rows: readonly TrackedRow[],
): Promise<Map<string, RemoteState>> {
  const ids = new Set<string>();
  for (const { row } of rows) {
    if (row.remoteId === null || !acts(row)) continue;
    if (row.expects.record && row.side === 'local') ids.add(row.remoteId);
    else if (takesFromRecord(row) && options.mayHaveChanged?.(row.remoteId)) ids.add(row.remoteId);
  }
  return ids.size > 0 ? await port.readRemote(mapping.remote_table, [...ids]) : new Map();
}

function stepOf(
  { mapping, ended }: Applying,
  row: PlanRow,
  records: ReadonlyMap<string, RemoteState>,
): LocalStep | RowResult {
  if (!acts(row)) return { row, outcome: without('skipped', row.reason), changes: [] };
  const record = row.remoteId === null ? undefined : records.get(row.remoteId);
  if (record) {
    const object = row.expects.record ? remoteObjection : sourceObjection;
    const objection = object(mapping, row, record);
    if (objection !== null) return { row, outcome: without('stale', objection), changes: [] };
  }
  return {
    row,
    write: row.side === 'local' ? localWrite(mapping, row) : null,
    check: (state, now) => needsObjection(row, ended, now) ?? localObjection(mapping, row, state),
    changes: (card, left) =>
      stateChanges(mapping, row, {
        card,
        cardId: card?.id ?? row.cardId,
        remoteId: row.remoteId,
        ...(left && { left }),
      }),
  };
}

function localWrite(mapping: Mapping, row: PlanRow): LocalWrite {
  const values: Record<Path, Value> = {};
  for (const [path, { new: value }] of Object.entries(row.diff)) values[path] = value;
  const cardId = row.cardId ?? '';
  switch (row.action) {
    case 'create':
      return { kind: 'create', cardType: mapping.card_type_key, values };
    case 'delete':
      return { kind: 'archive', cardId };
    case 'restore':
      return { kind: 'restore', cardId };
    case 'relate':
    case 'unrelate':
      // cards that the same plan makes are known to whoever writes
      return {
        kind: row.action,
        relationType: row.link!.relationType,
        source: row.cards?.source ?? null,
        target: row.cards?.target ?? null,
      };
    default:
      return { kind: 'update', cardId, values };
  }
}
