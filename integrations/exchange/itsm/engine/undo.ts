import type { Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { hasOpenReferences, writesAnotherValue } from './apply.rows.ts';
import { canonical, isEqual, mapValues } from './fields.ts';
import type { Agreed, Pair, PairState, Path, Side } from './model.types.ts';
import type { AppliedRow, PlanRow } from './plan.types.ts';
import { emptyRow } from './state.ts';

type Pairs = ReadonlyMap<string, Pair>;
type Inverse = Pick<PlanRow, 'action'> & Partial<PlanRow>;

/**
 * The opposites of applied rows of a plan. They are applied like any other rows: each only while its result is unchanged, so that
 * later changes are not lost. The bases are restored too, so that the next run proposes the same changes again.
 * @param rows from the last to the first.
 */
export function invertRows(runId: string, rows: readonly AppliedRow[], pairs: Pairs, firstNo = 0): PlanRow[] {
  return rows.map((applied, n) => {
    const { row } = applied;
    const ids = pairIdsOf(applied, pairs);
    const reason = `Undoes row ${row.no} (${row.action})`;
    return { ...emptyRow, ...ids, reason, ...inverseOf(row, ids.remoteId, pairs, runId), no: firstNo + n };
  });
}

function inverseOf(row: PlanRow, remoteId: string | null, pairs: Pairs, runId: string): Inverse {
  switch (row.action) {
    case 'update':
    case 'agree':
      return inverseOfUpdate(row, remoteId, pairs);
    case 'create':
      return inverseOfCreate(row, remoteId, pairs);
    case 'delete':
      return inverseOfDelete(row, pairs, runId);
    case 'restore':
      return inverseOfRestore(row, pairs);
    case 'link':
      return { action: 'unlink', expects: { pair: 'linked' }, drops: remoteId ? [remoteId] : [] };
    case 'quarantine':
      return { action: 'release', expects: { pair: 'quarantined' }, state: { kind: 'linked' } };
    case 'relate':
    case 'unrelate': {
      const { side, link, baseLink, cards, refers } = row;
      // records that the plan has created are resolved by their cards again
      return { action: row.action === 'relate' ? 'unrelate' : 'relate', side, link, baseLink, cards, refers };
    }
    case 'unlink':
      if (row.state?.kind === 'ended')
        return { action: 'release', expects: { pair: 'ended' }, state: { kind: 'linked' } };
      break;
  }
  return { action: 'skip', reason: `Row ${row.no} (${row.action}) changed nothing that can be undone` };
}

/** The ids of a row's pair, including those that were created when the plan was applied. */
function pairIdsOf({ row, createdId }: AppliedRow, pairs: Pairs): Pick<PlanRow, 'remoteId' | 'cardId'> {
  if (!hasOpenReferences(row)) {
    const remoteId = row.remoteId ?? (row.side === 'remote' ? createdId : null);
    return { remoteId, cardId: row.cardId ?? (row.side === 'local' ? createdId : null) };
  }
  const pair = [...pairs.values()].find((one) =>
    row.remoteId === null ? one.cardId === row.cardId : one.remoteId === row.remoteId,
  );
  return { remoteId: row.remoteId ?? pair?.remoteId ?? null, cardId: row.cardId ?? pair?.cardId ?? null };
}

/**
 * The bases after the row was applied. They are taken from the pair, since the written side may have stored another form than
 * was sent; but from the row if a later run has changed the base, so that the undo of the row is stale.
 */
function baseAfter(row: PlanRow, remoteId: string | null, pairs: Pairs): Record<Path, Agreed> {
  const base = (remoteId === null ? undefined : pairs.get(remoteId))?.base ?? {};
  return mapValues(row.agreed, (agreed, path) => {
    const now = base[path];
    if (!now) return row.before[path] ? agreed : undefined;
    return wasAgreedLater(row, path, now) ? agreed : now;
  });
}

/** Whether a base has the values of another one, on these sides. */
const isAs = (now: Agreed, then: Agreed | null | undefined, over: readonly Side[]): boolean =>
  Boolean(then) && over.every((one) => isEqual(now[one], then![one]));

/** Whether the base is the one before the row: its value was not written, or a later run has agreed on the former values again. */
const isAsBefore = ({ before }: PlanRow, path: Path, now: Agreed): boolean =>
  isAs(now, before[path], ['local', 'remote']);

/** Whether a later run has changed the base. A value that was not written has not changed it. */
function wasAgreedLater(row: PlanRow, path: Path, now: Agreed): boolean {
  const sides = (['local', 'remote'] as const).filter((one) => one !== row.side);
  return !isAs(now, row.agreed[path], sides) && !isAsBefore(row, path, now);
}

/** The values of a side after the row was applied. */
function valuesAfter(row: PlanRow, remoteId: string | null, pairs: Pairs, side: Side): Record<Path, Value> {
  const base = baseAfter(row, remoteId, pairs);
  const agreed = mapValues(row.agreed, (both, path) => {
    const change = row.diff[path];
    if (writesAnotherValue(row, path)) return canonical(change?.new ?? null);
    const now = base[path] ?? both;
    // what was not written still has the former value; what was agreed on later is not replaced by it
    const isFormer = change && side === row.side && isAsBefore(row, path, now) && !isAs(now, both, [side]);
    return isFormer ? canonical(change.old) : now[side];
  });
  // values that were written without a base
  const withoutBase = row.forgets.flatMap((path) =>
    row.diff[path] ? [[path, canonical(row.diff[path].new)] as const] : [],
  );
  return { ...agreed, ...Object.fromEntries(withoutBase) };
}

function inverseOfUpdate(row: PlanRow, remoteId: string | null, pairs: Pairs): Inverse {
  const { side } = row;
  const base = baseAfter(row, remoteId, pairs);
  const paths = [...new Set([...Object.keys(row.agreed), ...row.forgets])];
  const values = side ? valuesAfter(row, remoteId, pairs, side) : {};
  const known = paths.filter((path) => row.before[path]);
  return {
    action: row.action,
    side,
    diff: mapValues(row.diff, ({ old }, path) => ({ old: values[path] ?? null, new: old })),
    expects: {
      pair: 'linked',
      ...(side === 'local' && { card: { there: true, fields: values } }),
      ...(side === 'remote' && { record: { there: true, fields: values } }),
    },
    agreed: Object.fromEntries(known.map((path) => [path, row.before[path]!])),
    forgets: paths.filter((path) => !row.before[path]),
    before: Object.fromEntries(paths.map((path) => [path, base[path] ?? null])),
  };
}

/**
 * Removes the created object if it is unchanged and no other card was merged into it. A record that the remote has adopted is only
 * unlinked.
 */
function inverseOfCreate(row: PlanRow, remoteId: string | null, pairs: Pairs): Inverse {
  const side = row.side ?? 'local';
  const pair = remoteId === null ? undefined : pairs.get(remoteId);
  if (side === 'remote' && remoteId !== null && pair?.origin === 'linked') {
    return { action: 'unlink', expects: { pair: 'linked' }, drops: [remoteId] };
  }
  const values = valuesAfter(row, remoteId, pairs, side);
  return {
    action: 'delete',
    side,
    diff: mapValues(values, (old) => ({ old, new: null })),
    // for undoing the undo
    origin: pair?.origin ?? null,
    before: baseAfter(row, remoteId, pairs),
    expects: {
      pair: row.state?.kind ?? 'linked',
      ...(side === 'local'
        ? { unbound: true, card: { there: true, fields: values } }
        : { record: { there: true, fields: values } }),
    },
    drops: remoteId === null ? [] : [remoteId],
  };
}

/**
 * Restores an archived card, or creates a deleted record again with a new id. The other side remains gone, so that the next run
 * proposes the removal again. If the deletion was itself the undo of a creation, the pair is linked again.
 */
function inverseOfDelete(row: PlanRow, pairs: Pairs, runId: string): Inverse {
  const agreed = mapValues(row.before, (one) => one ?? undefined);
  const gone: Side = row.side === 'local' ? 'remote' : 'local';
  const state = stateAfterUndo(row, gone);
  const common = { agreed, origin: row.origin, side: row.side, state, was: row.state };
  if (row.side === 'local') {
    const pair = row.remoteId !== null && pairs.has(row.remoteId) ? 'removed' : 'none';
    // a card that the undone run had created of a record is restored only beside that record
    const record = state.kind === 'linked' && { record: { there: true, fields: {} } };
    return { ...common, action: 'restore', expects: { pair, card: { there: false, fields: {} }, ...record } };
  }
  const diff = mapValues(row.diff, ({ old }) =>
    canonical(old) === null ? undefined : { old: null, new: old },
  );
  const restored = row.remoteId === null ? null : { runId, no: row.no, remoteId: row.remoteId };
  // after the undo of a creation the card may be gone, or have another record
  const card = common.state.kind === 'linked' && { card: { there: true, fields: {} } };
  return { ...common, action: 'create', remoteId: null, diff, restored, expects: { unbound: true, ...card } };
}

/** The pair's state after undoing a deletion: quarantined again, or linked if the deletion was the undo of a creation. */
function stateAfterUndo({ state, drops }: PlanRow, gone: Side): PairState {
  if (state?.kind === 'removed') return { ...state, kind: 'quarantined' };
  return drops.length > 0 ? { kind: 'linked' } : { kind: 'ended', gone };
}

/** Archives a restored card again; the next run finds that its record exists. */
function inverseOfRestore(row: PlanRow, pairs: Pairs): Inverse {
  const pair = row.remoteId === null ? undefined : pairs.get(row.remoteId);
  const after = baseAfter(row, row.remoteId, pairs);
  // a restore does not change the base of an existing pair; rows of earlier releases do not contain that base
  const before = row.origin === null ? { ...pair?.base, ...row.before, ...after } : after;
  const values: Record<Path, Value> = mapValues(before, (agreed) => agreed?.local);
  return {
    action: 'delete',
    side: 'local',
    diff: mapValues(values, (old) => ({ old, new: null })),
    expects: { pair: row.state?.kind ?? 'linked', unbound: true, card: { there: true, fields: values } },
    // for undoing the undo
    origin: row.origin,
    before,
    state: row.was,
    drops: row.was === null && row.remoteId !== null ? [row.remoteId] : [],
  };
}
