import { localFields, mapValues, otherSide, remoteFields } from './fields.ts';
import type { Side } from './model.types.ts';
import {
  addPairRow,
  describeChangesSinceBase,
  findResolution,
  mappedBase,
  type PairView,
} from './plan.fields.ts';
import { addRow, findRecord, isLive, type Planning } from './state.ts';

export const linked = { kind: 'linked' } as const;

const objectOn = (side: Side) => (side === 'local' ? 'card' : 'record');

/** Plans a linked pair of which one side is gone. */
export function planGone(planning: Planning, view: PairView): void {
  const { pair, card, recordState } = view;
  const successor = card && recordState.kind === 'gone' ? recordState.mergedInto : undefined;
  if (successor && planSuccessor(planning, view, successor)) return;
  const gone: Side = card ? 'remote' : 'local';
  if (planUnlinking(planning, view, gone)) return;
  const counterpart = deferWhileColumnsHidden(planning, view)
    ? 'removable'
    : planChangedCounterpart(planning, view, gone);
  if (counterpart === 'restored') return;
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  // also if a user has to decide: nothing is written to a quarantined pair, and no relations to it are created
  addPairRow(planning, view, {
    action: 'quarantine',
    reason: `The ${objectOn(gone)} is gone (${evidenceTexts[evidence]}); its counterpart is quarantined ${counterpart === 'conflict' ? 'until a user decides' : 'before its removal'}`,
    expects: { pair: 'linked' },
    state: { kind: 'quarantined', gone, evidence, since: planning.observation.now },
  });
  planning.totals.again.add(pair.remoteId);
}

const evidenceTexts = {
  tombstone: 'the remote reports its deletion',
  look: 'it was not found by its key',
  readings: 'it was missing in full reads',
  inventory: 'it was archived or deleted here',
} as const;

/** Synchronises a pair again of which one side had been gone. */
export function planReturn(planning: Planning, view: PairView, gone: Side): void {
  addPairRow(planning, view, {
    action: 'release',
    reason: `The ${objectOn(gone)} exists again`,
    expects: { pair: view.pair.state.kind },
    state: linked,
  });
  planning.totals.again.add(view.pair.remoteId);
}

/** Plans a quarantined pair: released if the side that was gone exists again, removed when the quarantine has passed. */
export function planQuarantined(planning: Planning, view: PairView): void {
  const { pair, card, recordState } = view;
  if (pair.state.kind !== 'quarantined') return;
  const { gone, since } = pair.state;
  const hasReturned = gone === 'local' ? card !== undefined : recordState.kind === 'there';
  if (hasReturned) {
    planReturn(planning, view, gone);
    return;
  }
  if (planUnlinking(planning, view, gone) || deferWhileColumnsHidden(planning, view)) return;
  planning.totals.again.add(pair.remoteId);
  if (planChangedCounterpart(planning, view, gone) !== 'removable') return;
  const until = Date.parse(since) + planning.mapping.quarantine_minutes * 60_000;
  if (Date.parse(planning.observation.now) < until) {
    const reason = `Quarantined until ${new Date(until).toISOString()}`;
    addPairRow(planning, view, { action: 'skip', reason });
    return;
  }
  const remote =
    recordState.kind === 'there'
      ? remoteFields(planning.mapping, recordState.record)
      : mapValues(pair.base, (agreed) => agreed.remote);
  const local = card ? localFields(planning.mapping, card) : {};
  addPairRow(planning, view, {
    action: 'delete',
    side: otherSide(gone),
    reason: gone === 'remote' ? 'The record is gone at the remote' : 'The card is gone here',
    diff: mapValues(gone === 'remote' ? local : remote, (old) => ({ old, new: null })),
    expects: {
      pair: 'quarantined',
      card: { there: gone === 'remote', fields: local },
      record: { there: gone === 'local', fields: gone === 'local' ? remote : {} },
    },
    before: mappedBase(planning, pair),
    state: { ...pair.state, kind: 'removed' },
    origin: pair.origin,
  });
}

/** Ends a pair whose remaining side is retained. */
function planUnlinking(planning: Planning, view: PairView, gone: Side): boolean {
  const { pair, cardId } = view;
  const others = gone === 'remote' ? planning.pairsByCard.get(cardId) : undefined;
  const other = others?.find((one) => one !== pair && isLive(one));
  const why = other
    ? `the card has another record, ${other.remoteId}`
    : reasonToRetain(planning, view, otherSide(gone));
  if (why === undefined) return false;
  addPairRow(planning, view, {
    action: 'unlink',
    reason: `The ${objectOn(gone)} is gone; ${why}`,
    expects: { pair: pair.state.kind },
    ...(other ? { drops: [pair.remoteId] } : { state: { kind: 'ended', gone } }),
  });
  return true;
}

/** Defers removals while columns are hidden from the account: a change in a hidden column would be lost with the record. */
function deferWhileColumnsHidden(planning: Planning, view: PairView): boolean {
  if (!planning.observation.remote.hiddenColumns) return false;
  const reason = 'Nothing is removed while columns are hidden from the account';
  addPairRow(planning, view, { action: 'skip', reason });
  planning.totals.again.add(view.pair.remoteId);
  return true;
}

/** Why the mapping retains the remaining side; undefined if it is removed. */
function reasonToRetain(
  { mapping: { sync_direction: direction, sync_mode: mode } }: Planning,
  { pair, cardId }: PairView,
  remaining: Side,
): string | undefined {
  if (direction === (remaining === 'local' ? 'push' : 'pull'))
    return `the mapping does not write ${remaining === 'local' ? 'here' : 'to the remote'}`;
  if (mode === 'additive') return 'the mapping removes nothing';
  // the survivor of a merge was not created by the engine
  const isPulled = pair.origin === 'pulled' && pair.cardId === cardId;
  const isOwn = remaining === 'local' ? isPulled : pair.origin === 'pushed';
  return mode === 'conservative' && !isOwn
    ? 'the mapping only removes what it has created itself'
    : undefined;
}

/**
 * Plans the remaining side if it was changed after the other was removed: a user has to decide.
 * @returns `removable`: it was not changed, or the user has decided to remove it; `restored`: a row restores the counterpart.
 */
function planChangedCounterpart(
  planning: Planning,
  view: PairView,
  gone: Side,
): 'removable' | 'conflict' | 'restored' {
  const { pair, card, recordState } = view;
  if (recordState.kind === 'gone' && recordState.isConfirmed) return 'removable';
  const remaining = otherSide(gone);
  const record = recordState.kind === 'there' ? recordState.record : undefined;
  const changes = describeChangesSinceBase(planning, { card, record, base: pair.base }, remaining);
  if (changes.length === 0) return 'removable';
  const values = { local: null, remote: null, [remaining]: changes.join() };
  const winner = findResolution(planning, pair.remoteId, null, values.local, values.remote);
  if (winner === gone) return 'removable';
  planning.totals.again.add(pair.remoteId);
  if (winner === remaining) {
    restoreCounterpart(planning, view);
    return 'restored';
  }
  addPairRow(planning, view, {
    action: 'conflict',
    reason: `The ${objectOn(gone)} is gone, but its counterpart was changed: ${changes.join(', ')}`,
    diff: { '': { old: values.local, new: values.remote } },
  });
  return 'conflict';
}

/**
 * Gives the remaining side a counterpart again, as a user has decided. An archived card is restored. Otherwise the pair ends,
 * and the next run finds or creates a counterpart.
 */
function restoreCounterpart(planning: Planning, view: PairView): void {
  const { pair, cardId, card } = view;
  if (!card && planning.observation.local.cards.has(cardId)) {
    addPairRow(planning, view, {
      action: 'restore',
      side: 'local',
      reason: 'A user decided to restore the card of the record',
      expects: { pair: pair.state.kind, card: { there: false, fields: {} } },
      before: mappedBase(planning, pair),
      state: linked,
      was: pair.state,
    });
    return;
  }
  const [remaining, lost] = card ? ['card', 'record'] : ['record', 'card'];
  addPairRow(planning, view, {
    action: 'unlink',
    reason: `A user decided that the ${remaining} gets a ${lost} again`,
    expects: { pair: pair.state.kind },
    drops: [pair.remoteId],
  });
}

/** The remote has merged the record into another one: the pair continues with that, unless it has a card of its own. */
function planSuccessor(planning: Planning, view: PairView, successor: string): boolean {
  const { pair, cardId } = view;
  if (planning.syncState.pairs.has(successor)) {
    addPairRow(planning, view, {
      action: 'unlink',
      reason: `The remote has merged the record into ${successor}, which belongs to another card; the two cards may be duplicates`,
      expects: { pair: 'linked' },
      state: { kind: 'ended', gone: 'remote' },
    });
    return true;
  }
  if (!findRecord(planning.index, successor)) return false;
  addRow(planning, {
    remoteId: successor,
    cardId,
    action: 'link',
    reason: `The remote has merged record ${pair.remoteId} into this one`,
    expects: { pair: 'none', card: { there: true, fields: {} } },
    agreed: pair.base,
    drops: [pair.remoteId],
    origin: pair.origin === 'pushed' ? 'linked' : pair.origin,
  });
  planning.totals.again.add(successor);
  return true;
}
