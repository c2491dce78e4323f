import { localFields, remoteFields } from './fields.ts';
import type { LocalCard, Pair, Side } from './model.types.ts';
import {
  addRow,
  type Compared,
  type Draft,
  describeChangesSinceBase,
  findResolution,
  mappedBase,
  type Planning,
  pairIds,
} from './plan.fields.ts';
import { findRecord, isLive, type RecordState } from './state.ts';

/** Plans a linked pair of which one side is gone. */
export function planGone(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  if (
    card &&
    recordState.kind === 'gone' &&
    recordState.mergedInto &&
    planSuccessor(planning, pair, card, recordState.mergedInto)
  ) {
    return;
  }
  const gone: Side = card ? 'remote' : 'local';
  if (planUnlinking(planning, pair, cardId, gone)) return;
  const counterpart = deferWhileColumnsHidden(planning, pair, cardId)
    ? 'removable'
    : planChangedCounterpart(planning, pair, cardId, card, recordState, gone);
  if (counterpart === 'restored') return;
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  const what = gone === 'local' ? 'card' : 'record';
  // also if a user has to decide: nothing is written to a quarantined pair, and no relations to it are created
  addRow(planning, {
    ...pairIds(pair, cardId),
    action: 'quarantine',
    reason: `The ${what} is gone (${evidenceTexts[evidence]}); its counterpart is quarantined ${counterpart === 'conflict' ? 'until a user decides' : 'before its removal'}`,
    expects: { pair: 'linked' },
    state: { kind: 'quarantined', gone, evidence, since: planning.observation.now },
  });
  planning.again.add(pair.remoteId);
}

const evidenceTexts = {
  tombstone: 'the remote reports its deletion',
  look: 'it was not found by its key',
  readings: 'it was missing in several full reads',
  inventory: 'it was archived or deleted here',
} as const;

/** Plans a quarantined pair: released if the side that was gone exists again, removed when the quarantine has passed. */
export function planQuarantined(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  if (pair.state.kind !== 'quarantined') return;
  const { gone, since } = pair.state;
  const ids = pairIds(pair, cardId);
  const hasReturned = gone === 'local' ? card !== undefined : recordState.kind === 'there';
  if (hasReturned) {
    const reason = gone === 'local' ? 'The card exists again' : 'The record exists again';
    addRow(planning, {
      ...ids,
      action: 'release',
      reason,
      expects: { pair: 'quarantined' },
      state: { kind: 'linked' },
    });
    planning.again.add(pair.remoteId);
    return;
  }
  if (planUnlinking(planning, pair, cardId, gone) || deferWhileColumnsHidden(planning, pair, cardId)) return;
  planning.again.add(pair.remoteId);
  if (planChangedCounterpart(planning, pair, cardId, card, recordState, gone) !== 'removable') return;
  const until = Date.parse(since) + planning.mapping.quarantine_minutes * 60_000;
  if (Date.parse(planning.observation.now) < until) {
    const reason = `Quarantined until ${new Date(until).toISOString()}`;
    addRow(planning, { ...ids, action: 'skip', reason });
    return;
  }
  addRow(planning, removalRow(planning, pair, cardId, card, recordState, gone));
}

function removalRow(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
  gone: Side,
): Draft {
  const read = recordState.kind === 'there' ? remoteFields(planning.mapping, recordState.record) : undefined;
  const agreed = Object.entries(pair.base).map(([path, { remote }]) => [path, remote] as const);
  const remote = read ?? Object.fromEntries(agreed);
  const local = card ? localFields(planning.mapping, card) : {};
  const values = gone === 'remote' ? local : remote;
  return {
    ...pairIds(pair, cardId),
    action: 'delete',
    side: gone === 'remote' ? 'local' : 'remote',
    reason: gone === 'remote' ? 'The record is gone at the remote' : 'The card is gone here',
    diff: Object.fromEntries(
      Object.entries(values).map(([path, value]) => [path, { old: value, new: null }]),
    ),
    expects: {
      pair: 'quarantined',
      card: { there: gone === 'remote', fields: local },
      record: { there: gone === 'local', fields: gone === 'local' ? remote : {} },
    },
    before: mappedBase(planning, pair),
    state: pair.state.kind === 'quarantined' ? { ...pair.state, kind: 'removed' } : null,
    origin: pair.origin,
  };
}

/** Ends a pair whose remaining side is retained. */
function planUnlinking(planning: Planning, pair: Pair, cardId: string, gone: Side): boolean {
  const retained = reasonToRetain(planning, pair, cardId, gone);
  if (!retained) return false;
  addRow(planning, {
    ...pairIds(pair, cardId),
    action: 'unlink',
    reason: `The ${gone === 'local' ? 'card' : 'record'} is gone; ${retained.reason}`,
    expects: { pair: pair.state.kind },
    ...(retained.drop ? { drops: [pair.remoteId] } : { state: { kind: 'ended', gone } }),
  });
  return true;
}

/** Defers removals while columns are hidden from the account: a change in a hidden column would be lost with the record. */
function deferWhileColumnsHidden(planning: Planning, pair: Pair, cardId: string): boolean {
  if (!planning.observation.remote.hiddenColumns) return false;
  const reason = 'Nothing is removed while columns are hidden from the account';
  addRow(planning, { ...pairIds(pair, cardId), action: 'skip', reason });
  planning.again.add(pair.remoteId);
  return true;
}

/** Why the remaining side is retained; undefined if it is removed. */
function reasonToRetain(
  { mapping, pairsByCard }: Planning,
  pair: Pair,
  cardId: string,
  gone: Side,
): { reason: string; drop: boolean } | undefined {
  const remaining: Side = gone === 'local' ? 'remote' : 'local';
  if (gone === 'remote') {
    const other = pairsByCard.get(cardId)?.find((one) => one !== pair && isLive(one));
    if (other) return { reason: `the card has another record, ${other.remoteId}`, drop: true };
  }
  if (mapping.sync_direction === (remaining === 'local' ? 'push' : 'pull')) {
    return {
      reason: `the mapping does not write ${remaining === 'local' ? 'here' : 'to the remote'}`,
      drop: false,
    };
  }
  if (mapping.sync_mode === 'additive') return { reason: 'the mapping removes nothing', drop: false };
  // the survivor of a merge was not created by the engine
  const isPulled = pair.origin === 'pulled' && pair.cardId === cardId;
  const isOwn = remaining === 'local' ? isPulled : pair.origin === 'pushed';
  if (mapping.sync_mode === 'conservative' && !isOwn) {
    return { reason: 'the mapping only removes what it has created itself', drop: false };
  }
  return undefined;
}

/**
 * Plans the remaining side if it was changed after the other was removed: a user has to decide.
 * @returns `removable`: it was not changed, or the user has decided to remove it; `restored`: a row restores the counterpart.
 */
function planChangedCounterpart(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
  gone: Side,
): 'removable' | 'conflict' | 'restored' {
  if (recordState.kind === 'gone' && recordState.isConfirmed) return 'removable';
  const remaining: Side = gone === 'local' ? 'remote' : 'local';
  const record = recordState.kind === 'there' ? recordState.record : undefined;
  const now = card ?? cardFromBase(planning, cardId, pair);
  const compared: Compared = { remoteId: pair.remoteId, card: now, record, base: pair.base };
  const changes = describeChangesSinceBase(planning, compared, remaining);
  if (changes.length === 0) return 'removable';
  const values = {
    local: remaining === 'local' ? changes.join() : null,
    remote: remaining === 'remote' ? changes.join() : null,
  };
  const winner = findResolution(planning, pair.remoteId, null, values.local, values.remote);
  if (winner === gone) return 'removable';
  if (winner === remaining) {
    restoreCounterpart(planning, pair, cardId, card);
    return 'restored';
  }
  addRow(planning, {
    ...pairIds(pair, cardId),
    action: 'conflict',
    reason: `${gone === 'local' ? 'The card' : 'The record'} is gone, but its counterpart was changed: ${changes.join(', ')}`,
    diff: { '': { old: values.local, new: values.remote } },
  });
  planning.again.add(pair.remoteId);
  return 'conflict';
}

/** A card with the values of the base, to compare the record with. */
function cardFromBase({ observation, mapping }: Planning, cardId: string, pair: Pair): LocalCard {
  const fields = Object.fromEntries(Object.entries(pair.base).map(([path, { local }]) => [path, local]));
  const card = {
    id: cardId,
    type: mapping.card_type_key,
    archived: true,
    inFilter: true,
    updatedAt: observation.now,
  };
  return { ...card, fields };
}

/**
 * Gives the remaining side a counterpart again, as a user has decided. An archived card is restored. Otherwise the pair ends,
 * and the next run finds or creates a counterpart.
 */
function restoreCounterpart(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
): void {
  const ids = pairIds(pair, cardId);
  planning.again.add(pair.remoteId);
  if (!card && planning.observation.local.cards.has(cardId)) {
    addRow(planning, {
      ...ids,
      action: 'restore',
      side: 'local',
      reason: 'A user decided to restore the card of the record',
      expects: { pair: pair.state.kind, card: { there: false, fields: {} } },
      before: mappedBase(planning, pair),
      state: { kind: 'linked' },
      was: pair.state,
    });
    return;
  }
  const [remaining, lost] = card ? ['card', 'record'] : ['record', 'card'];
  addRow(planning, {
    ...ids,
    action: 'unlink',
    reason: `A user decided that the ${remaining} gets a ${lost} again`,
    expects: { pair: pair.state.kind },
    drops: [pair.remoteId],
  });
}

/** The remote has merged the record into another one: the pair continues with that, unless it has a card of its own. */
function planSuccessor(planning: Planning, pair: Pair, card: LocalCard, successor: string): boolean {
  const other = planning.syncState.pairs.get(successor);
  if (other) {
    addRow(planning, {
      ...pairIds(pair, card.id),
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
    cardId: card.id,
    action: 'link',
    reason: `The remote has merged record ${pair.remoteId} into this one`,
    expects: { pair: 'none', card: { there: true, fields: {} } },
    agreed: pair.base,
    drops: [pair.remoteId],
    origin: pair.origin === 'pushed' ? 'linked' : pair.origin,
  });
  planning.again.add(successor);
  return true;
}
