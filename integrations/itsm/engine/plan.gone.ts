import { localFields, remoteFields } from './fields.ts';
import type { LocalCard, Pair, Side } from './model.types.ts';
import {
  addRow,
  type Compared,
  changesSinceBase,
  chosen,
  type Draft,
  mappedBase,
  named,
  type Planning,
} from './plan.fields.ts';
import { findRecord, isLive, type RecordState } from './state.ts';

/** A linked pair of which one side is gone: its record, or else its card. */
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
  if (planEndOfPair(planning, pair, cardId, gone)) return;
  const moved = planWithHiddenColumns(planning, pair, cardId)
    ? 'no'
    : planChangedCounterpart(planning, pair, cardId, card, recordState, gone);
  if (moved === 'revived') return;
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  const what = gone === 'local' ? 'card' : 'record';
  // also where a person is asked: from here on nothing is written about a pair of which a side is gone, nor related to it
  addRow(planning, {
    ...named(pair, cardId),
    action: 'quarantine',
    reason: `The ${what} is gone (${proofs[evidence]}); its counterpart waits ${moved === 'asked' ? 'for a decision' : 'to be removed'}`,
    expects: { pair: 'linked' },
    state: { kind: 'quarantined', gone, evidence, since: planning.seen.now },
  });
  planning.again.add(pair.remoteId);
}

const proofs = {
  tombstone: 'the remote says so',
  look: 'a look at it found nothing',
  readings: 'several complete readings were without it',
  inventory: 'it was archived or deleted here',
} as const;

/** A pair in quarantine: released when what was gone is back, removed when its time has come. */
export function planQuarantined(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  if (pair.state.kind !== 'quarantined') return;
  const { gone, since } = pair.state;
  const ids = named(pair, cardId);
  const back = gone === 'local' ? card !== undefined : recordState.kind === 'there';
  if (back) {
    const reason = gone === 'local' ? 'The card is there again' : 'The record is there again';
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
  if (planEndOfPair(planning, pair, cardId, gone) || planWithHiddenColumns(planning, pair, cardId)) return;
  planning.again.add(pair.remoteId);
  if (planChangedCounterpart(planning, pair, cardId, card, recordState, gone) !== 'no') return;
  const until = Date.parse(since) + planning.mapping.quarantine_minutes * 60_000;
  if (Date.parse(planning.seen.now) < until) {
    const reason = `Waits to be removed until ${new Date(until).toISOString()}`;
    addRow(planning, { ...ids, action: 'skip', reason });
    return;
  }
  addRow(planning, removal(planning, pair, cardId, card, recordState, gone));
}

function removal(
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
    ...named(pair, cardId),
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

/** Ends a pair whose other side stays. */
function planEndOfPair(planning: Planning, pair: Pair, cardId: string, gone: Side): boolean {
  const kept = reasonToKeep(planning, pair, cardId, gone);
  if (!kept) return false;
  addRow(planning, {
    ...named(pair, cardId),
    action: 'unlink',
    reason: `The ${gone === 'local' ? 'card' : 'record'} is gone; ${kept.reason}`,
    expects: { pair: pair.state.kind },
    ...(kept.drop ? { drops: [pair.remoteId] } : { state: { kind: 'ended', gone } }),
  });
  return true;
}

/** Defers removals while columns are hidden from the account: a change in a hidden column would be lost with the record. */
function planWithHiddenColumns(planning: Planning, pair: Pair, cardId: string): boolean {
  if (!planning.seen.remote.hiddenColumns) return false;
  const reason = 'Nothing is removed while columns are hidden from the account';
  addRow(planning, { ...named(pair, cardId), action: 'skip', reason });
  planning.again.add(pair.remoteId);
  return true;
}

/** Why the side that is left stays, if it does. */
function reasonToKeep(
  { mapping, pairsOf }: Planning,
  pair: Pair,
  cardId: string,
  gone: Side,
): { reason: string; drop: boolean } | undefined {
  const left: Side = gone === 'local' ? 'remote' : 'local';
  if (gone === 'remote') {
    const other = pairsOf.get(cardId)?.find((one) => one !== pair && isLive(one));
    if (other) return { reason: `the card has another record, ${other.remoteId}`, drop: true };
  }
  if (mapping.sync_direction === (left === 'local' ? 'push' : 'pull')) {
    return {
      reason: `the mapping writes nothing ${left === 'local' ? 'here' : 'at the remote'}`,
      drop: false,
    };
  }
  if (mapping.sync_mode === 'additive') return { reason: 'the mapping removes nothing', drop: false };
  // a card that a merge has led to was there before
  const own = pair.origin === 'pulled' && pair.cardId === cardId;
  const made = left === 'local' ? own : pair.origin === 'pushed';
  if (mapping.sync_mode === 'conservative' && !made) {
    return { reason: 'the mapping only removes what it has made itself', drop: false };
  }
  return undefined;
}

/**
 * What was changed on one side while the other was removed is not removed without a person's word.
 * @returns `no`: nothing was changed, or it goes all the same; `revived`: a row gives it a counterpart again.
 */
function planChangedCounterpart(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
  gone: Side,
): 'no' | 'asked' | 'revived' {
  if (recordState.kind === 'gone' && recordState.decided) return 'no';
  const left: Side = gone === 'local' ? 'remote' : 'local';
  const record = recordState.kind === 'there' ? recordState.record : undefined;
  const now = card ?? archivedOrNone(planning, cardId, pair);
  const compared: Compared = { remoteId: pair.remoteId, card: now, record, base: pair.base };
  const moved = changesSinceBase(planning, compared, left);
  if (moved.length === 0) return 'no';
  const seen = {
    local: left === 'local' ? moved.join() : null,
    remote: left === 'remote' ? moved.join() : null,
  };
  const winner = chosen(planning, pair.remoteId, null, seen.local, seen.remote);
  if (winner === gone) return 'no';
  if (winner === left) {
    revive(planning, pair, cardId, card);
    return 'revived';
  }
  addRow(planning, {
    ...named(pair, cardId),
    action: 'conflict',
    reason: `${gone === 'local' ? 'The card' : 'The record'} is gone, but its counterpart was changed: ${moved.join(', ')}`,
    diff: { '': { old: seen.local, new: seen.remote } },
  });
  planning.again.add(pair.remoteId);
  return 'asked';
}

/** A card to compare with where there is none: it holds what was agreed on. */
function archivedOrNone({ seen, mapping }: Planning, cardId: string, pair: Pair): LocalCard {
  const fields = Object.fromEntries(Object.entries(pair.base).map(([path, { local }]) => [path, local]));
  const none = {
    id: cardId,
    type: mapping.card_type_key,
    archived: true,
    inFilter: true,
    updatedAt: seen.now,
  };
  return { ...none, fields };
}

/**
 * Follows a person's word that what is left shall have a counterpart again. An archived card is restored. Else the pair
 * ends, and what is left is new: the next run finds the counterpart that it may have got meanwhile, or makes one.
 */
function revive(planning: Planning, pair: Pair, cardId: string, card: LocalCard | undefined): void {
  const ids = named(pair, cardId);
  planning.again.add(pair.remoteId);
  if (!card && planning.seen.local.cards.has(cardId)) {
    addRow(planning, {
      ...ids,
      action: 'restore',
      side: 'local',
      reason: 'A person wants the record to have its card again',
      expects: { pair: pair.state.kind, card: { there: false, fields: {} } },
      before: mappedBase(planning, pair),
      state: { kind: 'linked' },
      was: pair.state,
    });
    return;
  }
  const [left, lost] = card ? ['card', 'record'] : ['record', 'card'];
  addRow(planning, {
    ...ids,
    action: 'unlink',
    reason: `A person wants the ${left} to have a ${lost} again`,
    expects: { pair: pair.state.kind },
    drops: [pair.remoteId],
  });
}

/** The remote has merged the record into another one: the pair goes on with that, unless it has a card of its own. */
function planSuccessor(planning: Planning, pair: Pair, card: LocalCard, successor: string): boolean {
  const other = planning.syncState.pairs.get(successor);
  if (other) {
    addRow(planning, {
      ...named(pair, card.id),
      action: 'unlink',
      reason: `The remote has merged the record into ${successor}, which belongs to another card; the cards may be one too`,
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
