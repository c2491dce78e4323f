import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RecordLookup } from '../remote.ts';
import { applyRemote } from './apply.remote.ts';
import {
  type ApplyContext,
  type ApplyOptions,
  copiesFromRecord,
  describeDifference,
  findMissingDependency,
  groupIntoWindows,
  localStaleReason,
  remoteStaleReason,
  resolveReferences,
  sourceStaleReason,
  stateChanges,
  unappliedRow,
  writesAnotherValue,
} from './apply.rows.ts';
import { canonical, mapValues, remoteFields } from './fields.ts';
import type { Pair } from './model.types.ts';
import type {
  AppliedRow,
  EnginePort,
  LocalStep,
  LocalWrite,
  Plan,
  PlanRow,
  Progress,
  RowResult,
  TrackedRow,
} from './plan.types.ts';
import { isChange } from './state.ts';

/** How applying ended. `lost`: the outcome of a write is unknown even after looking it up, so applying must be resumed. */
export interface Applied {
  status: 'done' | 'stopped' | 'lost';
  message: string | null;
  counts: Record<Progress, number>;
}

/**
 * Applies the approved rows of a plan in its order; independent rows are applied together. A row is applied only while the state
 * that it was planned from is unchanged. Resumable: ended rows are skipped, and a write that was sent is looked up before it is
 * sent again.
 */
export async function applyPlan(
  mapping: Mapping,
  { id, stopped }: Pick<Plan, 'id' | 'stopped'>,
  port: EnginePort,
  options: ApplyOptions = {},
): Promise<Applied> {
  const counts: Applied['counts'] = { pending: 0, started: 0, applied: 0, stale: 0, refused: 0, skipped: 0 };
  if (stopped !== null) return { status: 'stopped', message: stopped, counts };
  const applying: ApplyContext = { mapping, planId: id, port, options, progress: new Map() };
  for await (const chunk of port.rows()) {
    for (const { row, progress } of chunk) applying.progress.set(row.no, progress);
    const lost = await applyRows(applying, chunk.filter(isWanted));
    for (const { row } of chunk) counts[applying.progress.get(row.no)!] += 1;
    if (lost !== null) return { status: 'lost', message: `The response to row ${lost} was lost`, counts };
  }
  return { status: 'done', message: null, counts };
}

const isWanted = ({ row, progress, approval }: TrackedRow): boolean =>
  progress === 'started' || (progress === 'pending' && (approval === 'approved' || !isChange(row)));

/** @returns the number of a row whose outcome is unknown; null if there is none. */
async function applyRows(applying: ApplyContext, wanted: readonly TrackedRow[]): Promise<number | null> {
  for (const { locals, remotes } of groupIntoWindows(wanted)) {
    await applyLocal(applying, await resolveReferences(applying, locals));
    if (remotes.length === 0) continue;
    const lost = await applyRemote(applying, await resolveReferences(applying, remotes));
    if (lost !== null) return lost;
  }
  return null;
}

/** Applies rows that write to the inventory or to the sync state only, in one transaction. */
async function applyLocal(applying: ApplyContext, rows: readonly TrackedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { port, progress } = applying;
  const records = await readReferencedRecords(applying, rows);
  const outcomes = await port.writeLocal(rows.map(({ row }) => createStep(applying, row, records)));
  for (const [n, { row }] of rows.entries()) progress.set(row.no, outcomes[n]!.progress);
}

/** Reads the records that the rows depend on: those whose cards are removed, and those whose values are copied. */
async function readReferencedRecords(
  { mapping, port, options }: ApplyContext,
  rows: readonly TrackedRow[],
): Promise<Map<string, RecordLookup>> {
  const ids = new Set<string>();
  for (const { row } of rows) {
    if (row.remoteId === null || !isChange(row)) continue;
    if (row.expects.record && row.side === 'local') ids.add(row.remoteId);
    else if (copiesFromRecord(row) && options.mayHaveChanged?.(row.remoteId)) ids.add(row.remoteId);
  }
  return ids.size > 0 ? await port.readRemote(mapping.remote_table, [...ids]) : new Map();
}

function createStep(
  { mapping, progress }: ApplyContext,
  row: PlanRow,
  records: ReadonlyMap<string, RecordLookup>,
): LocalStep | RowResult {
  if (!isChange(row)) return unappliedRow(row, 'skipped', row.reason);
  const record = row.remoteId === null ? undefined : records.get(row.remoteId);
  if (record) {
    const check = row.expects.record ? remoteStaleReason : sourceStaleReason;
    const staleReason = check(mapping, row, record);
    if (staleReason !== null) return unappliedRow(row, 'stale', staleReason);
  }
  return {
    row,
    write: row.side === 'local' ? localWrite(mapping, row) : null,
    check: (state, now) => findMissingDependency(row, progress, now) ?? localStaleReason(mapping, row, state),
    changes: (card, unwritten) =>
      stateChanges(mapping, row, {
        card,
        cardId: card?.id ?? row.cardId,
        remoteId: row.remoteId,
        ...(unwritten && { unwritten }),
      }),
  };
}

function localWrite(mapping: Mapping, row: PlanRow): LocalWrite {
  const values = mapValues(row.diff, ({ new: value }) => value);
  const cardId = row.cardId ?? '';
  if (row.action === 'create') return { kind: 'create', cardType: mapping.card_type_key, values };
  if (row.action === 'delete') return { kind: 'archive', cardId };
  if (row.action === 'restore') return { kind: 'restore', cardId };
  if (row.action === 'relate' || row.action === 'unrelate') return { kind: row.action, ...row.cards! };
  return { kind: 'update', cardId, values };
}

/** A state that differs from what an applied row has written. */
export interface Finding {
  no: number;
  message: string;
}

/**
 * Compares the present records with what applied rows have written to them. A finding is not necessarily an error of the run: a
 * user may have changed the value since, which the next run synchronises.
 */
export function verifyRows(
  mapping: Mapping,
  rows: readonly AppliedRow[],
  after: { pairs: ReadonlyMap<string, Pair>; records: ReadonlyMap<string, RecordLookup> },
): Finding[] {
  return rows.flatMap(({ row, createdId }) => {
    const remoteId = row.remoteId ?? createdId ?? '';
    const state = after.records.get(remoteId) ?? { kind: 'unknown' };
    const message =
      row.side === 'remote' && !row.link && state.kind !== 'unknown'
        ? findDifference(mapping, row, state, after.pairs.get(remoteId)?.base ?? {})
        : null;
    return message === null ? [] : [{ no: row.no, message }];
  });
}

function findDifference(
  mapping: Mapping,
  row: AppliedRow['row'],
  state: Exclude<RecordLookup, { kind: 'unknown' }>,
  base: Pair['base'],
): string | null {
  if (row.action === 'delete') return state.kind === 'there' ? 'The record still exists.' : null;
  if (state.kind === 'gone') return 'The record does not exist.';
  // if the remote has stored another form than it was sent, the base contains that form
  const expected = mapValues(row.agreed, (agreed, path) =>
    writesAnotherValue(row, path)
      ? canonical(row.diff[path]?.new ?? null)
      : (base[path]?.remote ?? agreed.remote),
  );
  return describeDifference(expected, remoteFields(mapping, state.record));
}
