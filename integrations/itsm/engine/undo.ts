import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { writesOtherThanAgreed } from './apply.check.ts';
import { hasOpenReferences } from './apply.rows.ts';
import type { Agreed, PairState, Path, Side, SyncState } from './model.types.ts';
import { emptyRow } from './plan.fields.ts';
import type { Outcome, Plan, PlanRow } from './plan.types.ts';
import { canonical, same } from './values.ts';

/**
 * Makes the plan that takes an applied one back, row by row from its end. It is applied like any other: a row only
 * while what it takes back is still as it was left, so that nobody's later change goes with it. The base goes back too;
 * the next run finds what this one found, and proposes it again.
 */
export function undoPlan(
  id: string,
  plan: Plan,
  outcomes: ReadonlyMap<number, Outcome>,
  syncState: SyncState,
  now: string,
): Plan {
  const rows: PlanRow[] = [];
  for (const row of plan.rows.toReversed()) {
    const outcome = outcomes.get(row.no);
    if (outcome?.progress !== 'applied') continue;
    const inverse = inverseOf(row, outcome, syncState, plan.id);
    rows.push({ ...emptyRow, ...inverse, no: rows.length });
  }
  const closing = { watermark: syncState.watermark, again: [...syncState.again].sort(), absences: {} };
  return { id, mappingId: plan.mappingId, madeAt: now, rows, stopped: null, closing };
}

type Inverse = Pick<PlanRow, 'action' | 'reason'> & Partial<PlanRow>;

function inverseOf(row: PlanRow, outcome: Outcome, syncState: SyncState, runId: string): Inverse {
  const { remoteId, cardId } = pairOf(row, outcome, syncState);
  const ids = { remoteId, cardId };
  const reason = `Takes back row ${row.no} (${row.action})`;
  switch (row.action) {
    case 'update':
    case 'agree':
      return { ...ids, ...inverseOfUpdate(row, remoteId, syncState), reason };
    case 'create':
      return { ...ids, ...inverseOfCreate(row, remoteId, syncState), reason };
    case 'delete':
      return { ...ids, ...inverseOfDelete(row, syncState, runId), reason };
    case 'restore':
      return { ...ids, ...inverseOfRestore(row, syncState), reason };
    case 'link':
      return {
        ...ids,
        action: 'unlink',
        reason,
        expects: { pair: 'linked' },
        drops: remoteId ? [remoteId] : [],
      };
    case 'quarantine':
      return {
        ...ids,
        action: 'release',
        reason,
        expects: { pair: 'quarantined' },
        state: { kind: 'linked' },
      };
    case 'relate':
    case 'unrelate': {
      const { side, link, baseLink, cards, refers } = row;
      const action = row.action === 'relate' ? 'unrelate' : 'relate';
      // its records are found by its cards again: nothing else names those that the plan has made
      return { ...ids, action, side, link, baseLink, cards, refers, reason };
    }
    case 'unlink':
      if (row.state?.kind === 'ended') {
        const state = { kind: 'linked' } as const;
        return { ...ids, action: 'release', reason, expects: { pair: 'ended' }, state };
      }
      break;
  }
  return {
    ...ids,
    action: 'skip',
    reason: `Row ${row.no} (${row.action}) changed nothing that could be taken back`,
  };
}

/** What a row was about, also where that was not known before others had made it. */
function pairOf(row: PlanRow, outcome: Outcome, syncState: SyncState): Pick<PlanRow, 'remoteId' | 'cardId'> {
  const madeId = outcome.madeId ?? null;
  if (!hasOpenReferences(row)) {
    return {
      remoteId: row.remoteId ?? (row.side === 'remote' ? madeId : null),
      cardId: row.cardId ?? (row.side === 'local' ? madeId : null),
    };
  }
  const pair = [...syncState.pairs.values()].find((one) =>
    row.remoteId === null ? one.cardId === row.cardId : one.remoteId === row.remoteId,
  );
  return { remoteId: row.remoteId ?? pair?.remoteId ?? null, cardId: row.cardId ?? pair?.cardId ?? null };
}

/**
 * What both sides have agreed on with the row, as the sync state has it: the written side may hold another form than what was sent.
 * Where they have agreed on something else since, it is what the row says, and what is there now no longer fits it.
 */
function baseAfter(row: PlanRow, remoteId: string | null, syncState: SyncState): Record<Path, Agreed> {
  const base = (remoteId === null ? undefined : syncState.pairs.get(remoteId))?.base ?? {};
  return Object.fromEntries(
    Object.entries(row.agreed).flatMap(([path, agreed]) => {
      const now = base[path];
      if (!now) return row.before[path] ? [[path, agreed]] : [];
      return [[path, isLater(row, path, now) ? agreed : now]];
    }),
  );
}

/** Whether another run has had both sides agree on something else. A value that its side did not take has changed nothing. */
function isLater({ side, agreed, before }: PlanRow, path: Path, now: Agreed): boolean {
  const sides = (['local', 'remote'] as const).filter((one) => one !== side);
  const isAs = (then: Agreed | null | undefined, over: readonly Side[]) =>
    Boolean(then) && over.every((one) => same(now[one], then![one]));
  return !isAs(agreed[path], sides) && !isAs(before[path], ['local', 'remote']);
}

/** What a side held of the fields once the row was applied. */
function valuesAfter(
  row: PlanRow,
  remoteId: string | null,
  syncState: SyncState,
  side: Side,
): Record<Path, Value> {
  const base = baseAfter(row, remoteId, syncState);
  const agreed = Object.entries(row.agreed).map(([path, both]) => [
    path,
    writesOtherThanAgreed(row, path) ? canonical(row.diff[path]!.new) : (base[path] ?? both)[side],
  ]);
  // what was written without being agreed on
  const forgotten = row.forgets.flatMap((path) =>
    row.diff[path] ? [[path, canonical(row.diff[path].new)]] : [],
  );
  return Object.fromEntries([...agreed, ...forgotten]);
}

function inverseOfUpdate(
  row: PlanRow,
  remoteId: string | null,
  syncState: SyncState,
): Omit<Inverse, 'reason'> {
  const { side } = row;
  const base = baseAfter(row, remoteId, syncState);
  const paths = [...new Set([...Object.keys(row.agreed), ...row.forgets])];
  const held = side ? valuesAfter(row, remoteId, syncState, side) : {};
  const known = paths.filter((path) => row.before[path]);
  return {
    action: row.action,
    side,
    diff: Object.fromEntries(
      Object.entries(row.diff).map(([path, { old }]) => [path, { old: held[path] ?? null, new: old }]),
    ),
    expects: {
      pair: 'linked',
      ...(side === 'local' && { card: { there: true, fields: held } }),
      ...(side === 'remote' && { record: { there: true, fields: held } }),
    },
    agreed: Object.fromEntries(known.map((path) => [path, row.before[path]!])),
    forgets: paths.filter((path) => !row.before[path]),
    before: Object.fromEntries(paths.map((path) => [path, base[path] ?? null])),
  };
}

/**
 * Removes what was made, as long as it is as it was made, and no other card was merged into it. A record that the remote had
 * before is only let go.
 */
function inverseOfCreate(
  row: PlanRow,
  remoteId: string | null,
  syncState: SyncState,
): Omit<Inverse, 'reason'> {
  const side = row.side ?? 'local';
  const pair = remoteId === null ? undefined : syncState.pairs.get(remoteId);
  if (side === 'remote' && remoteId !== null && pair?.origin === 'linked') {
    return { action: 'unlink', expects: { pair: 'linked' }, drops: [remoteId] };
  }
  const held = valuesAfter(row, remoteId, syncState, side);
  return {
    action: 'delete',
    side,
    diff: Object.fromEntries(Object.entries(held).map(([path, old]) => [path, { old, new: null }])),
    // for taking that back in its turn
    origin: pair?.origin ?? null,
    before: baseAfter(row, remoteId, syncState),
    expects: {
      pair: row.state?.kind ?? 'linked',
      ...(side === 'local'
        ? { unbound: true, card: { there: true, fields: held } }
        : { record: { there: true, fields: held } }),
    },
    drops: remoteId === null ? [] : [remoteId],
  };
}

/**
 * An archived card is restored; a record is made anew, under a new key, and its card stays gone. The other side is gone as it
 * was before, so that the next run proposes the removal again. What was made and taken back is a pair again.
 */
function inverseOfDelete(row: PlanRow, syncState: SyncState, runId: string): Omit<Inverse, 'reason'> {
  const agreed = Object.fromEntries(
    Object.entries(row.before).flatMap(([path, one]) => (one ? [[path, one] as const] : [])),
  );
  const gone: Side = row.side === 'local' ? 'remote' : 'local';
  const common = { agreed, origin: row.origin, side: row.side, state: stateAgain(row, gone), was: row.state };
  if (row.side === 'local') {
    const pair = row.remoteId !== null && syncState.pairs.has(row.remoteId) ? 'removed' : 'none';
    return { ...common, action: 'restore', expects: { pair, card: { there: false, fields: {} } } };
  }
  const diff = Object.fromEntries(
    Object.entries(row.diff).flatMap(([path, { old }]) =>
      canonical(old) === null ? [] : [[path, { old: null, new: old }] as const],
    ),
  );
  const restored = row.remoteId === null ? null : { runId, no: row.no, remoteId: row.remoteId };
  // of what was made and taken back, the card may have got another record since, and be gone
  const card = common.state.kind === 'linked' && { card: { there: true, fields: {} } };
  return { ...common, action: 'create', remoteId: null, diff, restored, expects: { unbound: true, ...card } };
}

/** A removal that is to be proposed again; or, of what was made and taken back, the other side that it was made from. */
function stateAgain({ state, drops }: PlanRow, gone: Side): PairState {
  if (state?.kind === 'removed') return { ...state, kind: 'quarantined' };
  return drops.length > 0 ? { kind: 'linked' } : { kind: 'ended', gone };
}

/** A card that came back with its record is archived again, and the next run finds that its record is there. */
function inverseOfRestore(row: PlanRow, syncState: SyncState): Omit<Inverse, 'reason'> {
  const pair = row.remoteId === null ? undefined : syncState.pairs.get(row.remoteId);
  const left = baseAfter(row, row.remoteId, syncState);
  // a restore within a pair leaves the base as it was; rows of earlier releases do not say what that was
  const before = row.origin === null ? { ...pair?.base, ...row.before, ...left } : left;
  const held = Object.fromEntries(
    Object.entries(before).flatMap(([path, agreed]) => (agreed ? [[path, agreed.local] as const] : [])),
  );
  return {
    action: 'delete',
    side: 'local',
    diff: Object.fromEntries(Object.entries(held).map(([path, old]) => [path, { old, new: null }])),
    expects: { pair: row.state?.kind ?? 'linked', unbound: true, card: { there: true, fields: held } },
    // for taking that back in its turn
    origin: row.origin,
    before,
    state: row.was,
    drops: row.was === null && row.remoteId !== null ? [row.remoteId] : [],
  };
}
