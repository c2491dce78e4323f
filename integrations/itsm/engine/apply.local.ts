import { bookChanges } from './apply.changes.ts';
import { localObjection, remoteObjection, sourceObjection, takesFromRecord } from './apply.check.ts';
import { type Applying, needsObjection, without } from './apply.state.ts';
import type { Ending, LocalStep, LocalWrite, RemoteState, Standing } from './apply.types.ts';
import type { Mapping, Path } from './mapping.types.ts';
import { acts, type PlanRow } from './plan.types.ts';
import type { Value } from './values.ts';

/** Applies rows that write in the inventory or in the book alone, in one transaction. */
export async function applyLocal(applying: Applying, rows: readonly Standing[]): Promise<void> {
  if (rows.length === 0) return;
  const { port, ended } = applying;
  const records = await lookedAt(applying, rows);
  const outcomes = await port.writeLocal(rows.map(({ row }) => stepOf(applying, row, records)));
  for (const [n, { row }] of rows.entries()) ended.set(row.no, outcomes[n]!.progress);
}

/** The records that the rows rely on, as they are: what is to be removed because of them, or filled from them. */
async function lookedAt(
  { mapping, port, options }: Applying,
  rows: readonly Standing[],
): Promise<Map<string, RemoteState>> {
  const ids = new Set<string>();
  for (const { row } of rows) {
    if (row.remoteId === null || !acts(row)) continue;
    if (row.expects.record && row.side === 'local') ids.add(row.remoteId);
    else if (takesFromRecord(row) && options.mayHaveMoved?.(row.remoteId)) ids.add(row.remoteId);
  }
  return ids.size > 0 ? await port.readRemote(mapping.table, [...ids]) : new Map();
}

function stepOf(
  { mapping, ended }: Applying,
  row: PlanRow,
  records: ReadonlyMap<string, RemoteState>,
): LocalStep | Ending {
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
      bookChanges(mapping, row, {
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
      return { kind: 'create', cardType: mapping.cardType, values };
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
