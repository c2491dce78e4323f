import type { LocalCard, Pair, PairState, Side } from './model.types.ts';
import {
  addRow,
  cardOfPair,
  chosen,
  compareFields,
  mappedBase,
  named,
  type Planning,
  planFields,
} from './plan.fields.ts';
import { planGone, planQuarantined } from './plan.gone.ts';
import { isLive, type RecordState, recordStateOf, redirected } from './state.ts';

/**
 * Plans what is known already: each pair by what has become of its two sides.
 * @param only the records whose pairs are judged, where others are there to tell who is who.
 */
export function planPairs(planning: Planning, only?: ReadonlySet<string>): void {
  const { syncState } = planning;
  for (const pair of syncState.pairs.values()) {
    if (only && !only.has(pair.remoteId)) continue;
    planPair(planning, pair);
  }
}

function planPair(planning: Planning, pair: Pair): void {
  const cardId = redirected(pair.cardId, planning.seen.local.redirects);
  const card = cardOfPair(planning, cardId);
  const recordState = recordStateOf(pair, planning.mapping, planning.index);
  countAbsences(planning, pair, recordState);
  const recordGone =
    recordState.kind === 'gone' ||
    recordState.kind === 'reclassified' ||
    (goneBefore(pair) === 'remote' && recordState.kind === 'unread');
  const { kind } = pair.state;
  if (kind === 'removed') planRemoved(planning, pair, cardId, card, recordState);
  else if (recordGone && !card) planBothGone(planning, pair, cardId, recordState);
  else if (kind !== 'unmapped' && planning.apart.has(cardId)) planApart(planning, pair, cardId);
  else if (kind === 'ended') planEnded(planning, pair, card, recordState);
  else if (kind === 'unmapped') return;
  else if (recordState.kind === 'missing') planMissing(planning, pair, cardId, recordState.reason);
  else if (recordState.kind === 'outside' || (card && !card.inFilter))
    planOutside(planning, pair, cardId, recordState);
  else if (recordState.kind === 'reclassified')
    planReclassified(planning, pair, cardId, card, recordState.to);
  else if (kind === 'quarantined') planQuarantined(planning, pair, cardId, card, recordState);
  else if (recordState.kind === 'gone' || !card) planGone(planning, pair, cardId, card, recordState);
  else planBothThere(planning, pair, card, recordState);
}

/** The side that an earlier run found gone. */
function goneBefore({ state }: Pair): Side | undefined {
  return 'gone' in state ? state.gone : undefined;
}

/** Keeps count of the readings without a record, as long as anything hangs on it. */
function countAbsences(planning: Planning, pair: Pair, recordState: RecordState): void {
  if (!isLive(pair)) return;
  const shown = recordState.kind === 'there' || recordState.kind === 'outside';
  const absences = recordState.kind === 'missing' ? recordState.absences : shown ? 0 : pair.absences;
  if (absences !== pair.absences) planning.absences[pair.remoteId] = absences;
}

/** An archived card and a deleted record can come back, so that their pair is kept. */
function planBothGone(planning: Planning, pair: Pair, cardId: string, recordState: RecordState): void {
  const { state } = pair;
  const kept = state.kind !== 'unmapped' && planning.seen.local.cards.has(cardId);
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  const removed: PairState =
    state.kind === 'quarantined'
      ? { ...state, kind: 'removed' }
      : { kind: 'removed', gone: goneBefore(pair) ?? 'remote', evidence, since: planning.seen.now };
  addRow(planning, {
    ...named(pair, cardId),
    action: 'unlink',
    reason: 'Both the card and the record are gone',
    expects: { pair: state.kind },
    ...(kept ? { state: removed } : { drops: [pair.remoteId] }),
  });
}

/**
 * A pair of which both sides were gone: a record that is back gets its archived card back. A card that a person has restored
 * waits until it is known whether its record is there; if it is not, the card gets a new record like any other.
 */
function planRemoved(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  const { seen, index, identities, mapping } = planning;
  if (!seen.local.cards.has(cardId) || identities.primary.has(cardId) || planning.apart.has(cardId)) return;
  const isUnanswered =
    recordState.kind !== 'gone' && index.reading.looks.get(pair.remoteId)?.kind === 'unknown';
  const unknown = recordState.kind === 'outside' || isUnanswered;
  if (recordState.kind !== 'there') {
    if (card && unknown) {
      planning.reserved.add(cardId);
      planOutside(planning, pair, cardId, { kind: 'unread' });
    }
    return;
  }
  planning.reserved.add(cardId);
  const expects = {
    pair: 'removed',
    card: { there: card !== undefined, fields: {} },
    record: { there: true, fields: {} },
  } as const;
  const back = {
    ...named(pair, cardId),
    expects,
    before: mappedBase(planning, pair),
    state: { kind: 'linked' },
    was: pair.state,
  } as const;
  if (card)
    addRow(planning, { ...back, action: 'release', reason: 'The card and the record are there again' });
  else if (mapping.sync_direction === 'push') return;
  else addRow(planning, { ...back, action: 'restore', side: 'local', reason: 'The record is there again' });
  planning.again.add(pair.remoteId);
}

/** What had ended goes on when the side that was gone is back. */
function planEnded(
  planning: Planning,
  pair: Pair,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  if (pair.state.kind !== 'ended' || !card || planning.identities.primary.has(card.id)) return;
  const { gone } = pair.state;
  if (gone === 'remote' && recordState.kind !== 'there') return;
  addRow(planning, {
    ...named(pair, card.id),
    action: 'release',
    reason: gone === 'local' ? 'The card is there again' : 'The record is there again',
    expects: { pair: 'ended' },
    state: { kind: 'linked' },
  });
  planning.again.add(pair.remoteId);
}

/** A merge brought the pair to a card that a person took out; it shares that card's lot. */
function planApart(planning: Planning, pair: Pair, cardId: string): void {
  addRow(planning, {
    ...named(pair, cardId),
    action: 'unlink',
    reason: 'A merge brought the record to a card that was taken out of the synchronisation',
    expects: { pair: pair.state.kind },
    state: { kind: 'unmapped' },
  });
}

function planMissing(planning: Planning, pair: Pair, cardId: string, why: string): void {
  planning.again.add(pair.remoteId);
  const reason = `The record is not known to be gone: ${why}`;
  addRow(planning, { ...named(pair, cardId), action: 'skip', reason });
}

function planOutside(planning: Planning, pair: Pair, cardId: string, recordState: RecordState): void {
  // a record that fits again has changed, and is read for that
  if (recordState.kind !== 'outside') planning.again.add(pair.remoteId);
  const what = recordState.kind === 'outside' ? 'record' : 'card';
  const reason = `The ${what} is no longer in the part that the mapping is for, and is left alone`;
  addRow(planning, { ...named(pair, cardId), action: 'skip', reason });
}

function planBothThere(planning: Planning, pair: Pair, card: LocalCard, recordState: RecordState): void {
  const speaker = planning.identities.primary.get(card.id);
  if (speaker && speaker !== pair && isLive(pair)) {
    const reason = `The card is kept in step with record ${speaker.remoteId}; this one came to it by a merge`;
    addRow(planning, { ...named(pair, card.id), action: 'skip', reason });
    return;
  }
  const record = recordState.kind === 'there' ? recordState.record : undefined;
  const compared = { remoteId: pair.remoteId, card, record, base: pair.base };
  planFields(planning, compared, compareFields(planning, compared), null);
}

/**
 * A record that is in the table of another class by now: it is not deleted, but the mapping does not read it. A person decides
 * whether its card goes as if the record were deleted (`remote`), or stays without a record (`local`).
 */
function planReclassified(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  to: string,
): void {
  const ids = named(pair, cardId);
  const reason = `The record was reclassified to ${to}, which the mapping does not read`;
  const winner = chosen(planning, pair.remoteId, null, null, to);
  if (winner === 'remote') {
    const recordState = { kind: 'gone', evidence: 'look', decided: true } as const;
    if (pair.state.kind === 'quarantined') planQuarantined(planning, pair, cardId, card, recordState);
    else planGone(planning, pair, cardId, card, recordState);
    return;
  }
  if (winner === 'local') {
    addRow(planning, {
      ...ids,
      action: 'unlink',
      reason: `${reason}; a person keeps the card`,
      expects: { pair: pair.state.kind },
      state: { kind: 'ended', gone: 'remote' },
    });
    return;
  }
  addRow(planning, {
    ...ids,
    action: 'conflict',
    reason: `${reason}: its card stays until a person decides`,
    diff: { '': { old: null, new: to } },
  });
  planning.again.add(pair.remoteId);
}
