import type { LocalCard, Pair, PairState, Side } from './model.types.ts';
import {
  addRow,
  compareFields,
  findActiveCard,
  findResolution,
  mappedBase,
  type Planning,
  pairIds,
  planFields,
} from './plan.fields.ts';
import { planGone, planQuarantined } from './plan.gone.ts';
import { isLive, type RecordState, recordStateOf, survivorOf } from './state.ts';

/**
 * Plans the pairs by the state of their two sides.
 * @param only the records whose pairs are planned; the other pairs are only context.
 */
export function planPairs(planning: Planning, only?: ReadonlySet<string>): void {
  const { syncState } = planning;
  for (const pair of syncState.pairs.values()) {
    if (only && !only.has(pair.remoteId)) continue;
    planPair(planning, pair);
  }
}

function planPair(planning: Planning, pair: Pair): void {
  const cardId = survivorOf(pair.cardId, planning.observation.local.redirects);
  const card = findActiveCard(planning, cardId);
  const recordState = recordStateOf(pair, planning.mapping, planning.index);
  countAbsences(planning, pair, recordState);
  const recordGone =
    recordState.kind === 'gone' ||
    recordState.kind === 'reclassified' ||
    (sideGoneBefore(pair) === 'remote' && recordState.kind === 'unread');
  const { kind } = pair.state;
  if (kind === 'removed') planRemoved(planning, pair, cardId, card, recordState);
  else if (recordGone && !card) planBothGone(planning, pair, cardId, recordState);
  else if (kind !== 'unmapped' && planning.unmappedCards.has(cardId)) planUnmapped(planning, pair, cardId);
  else if (kind === 'ended') planEnded(planning, pair, card, recordState);
  else if (kind === 'unmapped') return;
  else if (recordState.kind === 'missing') planMissing(planning, pair, cardId, recordState.reason);
  else if (recordState.kind === 'out_of_scope' || (card && !card.inFilter))
    planOutOfScope(planning, pair, cardId, recordState);
  else if (recordState.kind === 'reclassified')
    planReclassified(planning, pair, cardId, card, recordState.to);
  else if (kind === 'quarantined') planQuarantined(planning, pair, cardId, card, recordState);
  else if (recordState.kind === 'gone' || !card) planGone(planning, pair, cardId, card, recordState);
  else planBothPresent(planning, pair, card, recordState);
}

/** The side that an earlier run found gone. */
function sideGoneBefore({ state }: Pair): Side | undefined {
  return 'gone' in state ? state.gone : undefined;
}

/** Counts the consecutive full reads without the record of a live pair. */
function countAbsences(planning: Planning, pair: Pair, recordState: RecordState): void {
  if (!isLive(pair)) return;
  const exists = recordState.kind === 'there' || recordState.kind === 'out_of_scope';
  const absences = recordState.kind === 'missing' ? recordState.absences : exists ? 0 : pair.absences;
  if (absences !== pair.absences) planning.absences[pair.remoteId] = absences;
}

/** The pair of an archived card is retained as `removed`, since both sides can be restored. */
function planBothGone(planning: Planning, pair: Pair, cardId: string, recordState: RecordState): void {
  const { state } = pair;
  const isRestorable = state.kind !== 'unmapped' && planning.observation.local.cards.has(cardId);
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  const removed: PairState =
    state.kind === 'quarantined'
      ? { ...state, kind: 'removed' }
      : {
          kind: 'removed',
          gone: sideGoneBefore(pair) ?? 'remote',
          evidence,
          since: planning.observation.now,
        };
  addRow(planning, {
    ...pairIds(pair, cardId),
    action: 'unlink',
    reason: 'Both the card and the record are gone',
    expects: { pair: state.kind },
    ...(isRestorable ? { state: removed } : { drops: [pair.remoteId] }),
  });
}

/**
 * Plans a pair of which both sides were gone. If the record has returned, its archived card is restored. A card that a user has
 * restored is deferred until it is known whether its record exists; if it does not, the card gets a new record.
 */
function planRemoved(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  const { observation, index, pairIndex, mapping } = planning;
  if (
    !observation.local.cards.has(cardId) ||
    pairIndex.primary.has(cardId) ||
    planning.unmappedCards.has(cardId)
  )
    return;
  const isInconclusive =
    recordState.kind !== 'gone' && index.remote.lookups.get(pair.remoteId)?.kind === 'unknown';
  const unknown = recordState.kind === 'out_of_scope' || isInconclusive;
  if (recordState.kind !== 'there') {
    if (card && unknown) {
      planning.reserved.add(cardId);
      planOutOfScope(planning, pair, cardId, { kind: 'unread' });
    }
    return;
  }
  planning.reserved.add(cardId);
  const expects = {
    pair: 'removed',
    card: { there: card !== undefined, fields: {} },
    record: { there: true, fields: {} },
  } as const;
  const common = {
    ...pairIds(pair, cardId),
    expects,
    before: mappedBase(planning, pair),
    state: { kind: 'linked' },
    was: pair.state,
  } as const;
  if (card) addRow(planning, { ...common, action: 'release', reason: 'The card and the record exist again' });
  else if (mapping.sync_direction === 'push') return;
  else addRow(planning, { ...common, action: 'restore', side: 'local', reason: 'The record exists again' });
  planning.again.add(pair.remoteId);
}

/** Resumes an ended pair if the side that was gone exists again. */
function planEnded(
  planning: Planning,
  pair: Pair,
  card: LocalCard | undefined,
  recordState: RecordState,
): void {
  if (pair.state.kind !== 'ended' || !card || planning.pairIndex.primary.has(card.id)) return;
  const { gone } = pair.state;
  if (gone === 'remote' && recordState.kind !== 'there') return;
  addRow(planning, {
    ...pairIds(pair, card.id),
    action: 'release',
    reason: gone === 'local' ? 'The card exists again' : 'The record exists again',
    expects: { pair: 'ended' },
    state: { kind: 'linked' },
  });
  planning.again.add(pair.remoteId);
}

/** Un-maps the pair of a card that was merged into an un-mapped card. */
function planUnmapped(planning: Planning, pair: Pair, cardId: string): void {
  addRow(planning, {
    ...pairIds(pair, cardId),
    action: 'unlink',
    reason: 'The card was merged into a card that a user has un-mapped',
    expects: { pair: pair.state.kind },
    state: { kind: 'unmapped' },
  });
}

function planMissing(planning: Planning, pair: Pair, cardId: string, why: string): void {
  planning.again.add(pair.remoteId);
  const reason = `The record is not known to be gone: ${why}`;
  addRow(planning, { ...pairIds(pair, cardId), action: 'skip', reason });
}

function planOutOfScope(planning: Planning, pair: Pair, cardId: string, recordState: RecordState): void {
  // a record that matches the filter again has changed, so it is read in any case
  if (recordState.kind !== 'out_of_scope') planning.again.add(pair.remoteId);
  const what = recordState.kind === 'out_of_scope' ? 'record' : 'card';
  const reason = `The ${what} no longer matches the filter of the mapping and is left unchanged`;
  addRow(planning, { ...pairIds(pair, cardId), action: 'skip', reason });
}

function planBothPresent(planning: Planning, pair: Pair, card: LocalCard, recordState: RecordState): void {
  const primary = planning.pairIndex.primary.get(card.id);
  if (primary && primary !== pair && isLive(pair)) {
    const reason = `The card is synchronised with record ${primary.remoteId}; this record belonged to a card that was merged into it`;
    addRow(planning, { ...pairIds(pair, card.id), action: 'skip', reason });
    return;
  }
  const record = recordState.kind === 'there' ? recordState.record : undefined;
  const compared = { remoteId: pair.remoteId, card, record, base: pair.base };
  planFields(planning, compared, compareFields(planning, compared), null);
}

/**
 * Plans a record that is in the table of another class now, which the mapping does not read. A user decides whether the card is
 * removed as if the record were deleted (`remote`), or retained without a record (`local`).
 */
function planReclassified(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  to: string,
): void {
  const ids = pairIds(pair, cardId);
  const reason = `The record was reclassified to ${to}, which the mapping does not read`;
  const winner = findResolution(planning, pair.remoteId, null, null, to);
  if (winner === 'remote') {
    const recordState = { kind: 'gone', evidence: 'look', isConfirmed: true } as const;
    if (pair.state.kind === 'quarantined') planQuarantined(planning, pair, cardId, card, recordState);
    else planGone(planning, pair, cardId, card, recordState);
    return;
  }
  if (winner === 'local') {
    addRow(planning, {
      ...ids,
      action: 'unlink',
      reason: `${reason}; a user decided to retain the card`,
      expects: { pair: pair.state.kind },
      state: { kind: 'ended', gone: 'remote' },
    });
    return;
  }
  addRow(planning, {
    ...ids,
    action: 'conflict',
    reason: `${reason}: its card is retained until a user decides`,
    diff: { '': { old: null, new: to } },
  });
  planning.again.add(pair.remoteId);
}
