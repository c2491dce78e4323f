import type { PairState } from './model.types.ts';
import {
  addPairRow,
  compareFields,
  findResolution,
  mappedBase,
  type PairView,
  planFields,
  recordStateOf,
} from './plan.fields.ts';
import { linked, planGone, planQuarantined, planReturn } from './plan.gone.ts';
import { findActiveCard, isLive, type Planning, survivorOf } from './state.ts';

/**
 * Plans the pairs by the state of their two sides.
 * @param only the records whose pairs are planned; the other pairs are only context.
 */
export function planPairs(planning: Planning, only: ReadonlySet<string>): void {
  const { syncState, observation, mapping, index } = planning;
  for (const pair of syncState.pairs.values()) {
    if (!only.has(pair.remoteId)) continue;
    const cardId = survivorOf(pair.cardId, observation.local.redirects);
    const recordState = recordStateOf(pair, mapping, index);
    const view = { pair, cardId, card: findActiveCard(planning, cardId), recordState };
    countAbsences(planning, view);
    planPair(planning, view);
  }
}

function planPair(planning: Planning, view: PairView): void {
  const { pair, cardId, card, recordState } = view;
  const { kind } = pair.state;
  const isRecordGone =
    recordState.kind === 'gone' ||
    recordState.kind === 'reclassified' ||
    (sideGoneBefore(view) === 'remote' && recordState.kind === 'unread');
  if (kind === 'removed') planRemoved(planning, view);
  else if (isRecordGone && !card) planBothGone(planning, view);
  else if (kind !== 'unmapped' && planning.unmappedCards.has(cardId)) planUnmapped(planning, view);
  else if (kind === 'ended') planEnded(planning, view);
  else if (kind === 'unmapped') return;
  else if (recordState.kind === 'missing') planMissing(planning, view, recordState.reason);
  else if (recordState.kind === 'out_of_scope' || (card && !card.inFilter))
    planOutOfScope(planning, view, recordState.kind === 'out_of_scope');
  else if (recordState.kind === 'reclassified') planReclassified(planning, view, recordState.to);
  else if (kind === 'quarantined') planQuarantined(planning, view);
  else if (recordState.kind === 'gone' || !card) planGone(planning, view);
  else planBothPresent(planning, view);
}

/** The side that an earlier run found gone. */
const sideGoneBefore = ({ pair: { state } }: PairView) => ('gone' in state ? state.gone : undefined);

/** Counts the consecutive full reads without the record of a live pair. */
function countAbsences(planning: Planning, { pair, recordState }: PairView): void {
  if (!isLive(pair)) return;
  const exists = recordState.kind === 'there' || recordState.kind === 'out_of_scope';
  const absences = recordState.kind === 'missing' ? recordState.absences : exists ? 0 : pair.absences;
  if (absences !== pair.absences) planning.totals.absences[pair.remoteId] = absences;
}

/** The pair of an archived card is retained as `removed`, since both sides can be restored. */
function planBothGone(planning: Planning, view: PairView): void {
  const { pair, cardId, recordState } = view;
  const { state } = pair;
  const { local, now } = planning.observation;
  const isRestorable = state.kind !== 'unmapped' && local.cards.has(cardId);
  const evidence = recordState.kind === 'gone' ? recordState.evidence : 'inventory';
  const removed: PairState =
    state.kind === 'quarantined'
      ? { ...state, kind: 'removed' }
      : { kind: 'removed', gone: sideGoneBefore(view) ?? 'remote', evidence, since: now };
  addPairRow(planning, view, {
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
function planRemoved(planning: Planning, view: PairView): void {
  const { pair, cardId, card, recordState } = view;
  const { observation, index, pairIndex, mapping, unmappedCards } = planning;
  const { reserved } = planning.totals;
  const isFree = !pairIndex.primary.has(cardId) && !unmappedCards.has(cardId);
  if (!observation.local.cards.has(cardId) || !isFree) return;
  if (recordState.kind !== 'there') {
    const isUnknown =
      recordState.kind === 'out_of_scope' ||
      (recordState.kind !== 'gone' && index.remote.lookups.get(pair.remoteId)?.kind === 'unknown');
    if (!card || !isUnknown) return;
    reserved.add(cardId);
    planOutOfScope(planning, view, false);
    return;
  }
  reserved.add(cardId);
  if (!card && mapping.sync_direction === 'push') return;
  addPairRow(planning, view, {
    ...(card
      ? { action: 'release', reason: 'The card and the record exist again' }
      : { action: 'restore', side: 'local', reason: 'The record exists again' }),
    expects: {
      pair: 'removed',
      card: { there: card !== undefined, fields: {} },
      record: { there: true, fields: {} },
    },
    before: mappedBase(planning, pair),
    state: linked,
    was: pair.state,
  });
  planning.totals.again.add(pair.remoteId);
}

/** Resumes an ended pair if the side that was gone exists again. */
function planEnded(planning: Planning, view: PairView): void {
  const { pair, card, recordState } = view;
  if (pair.state.kind !== 'ended' || !card || planning.pairIndex.primary.has(card.id)) return;
  const { gone } = pair.state;
  if (gone === 'local' || recordState.kind === 'there') planReturn(planning, view, gone);
}

/** Un-maps the pair of a card that was merged into an un-mapped card. */
function planUnmapped(planning: Planning, view: PairView): void {
  addPairRow(planning, view, {
    action: 'unlink',
    reason: 'The card was merged into a card that a user has un-mapped',
    expects: { pair: view.pair.state.kind },
    state: { kind: 'unmapped' },
  });
}

function planMissing(planning: Planning, view: PairView, why: string): void {
  planning.totals.again.add(view.pair.remoteId);
  addPairRow(planning, view, { action: 'skip', reason: `The record is not known to be gone: ${why}` });
}

/** @param isRecord whether the record is out of scope, or else the card. */
function planOutOfScope(planning: Planning, view: PairView, isRecord: boolean): void {
  // a record that matches the filter again has changed, so it is read in any case
  if (!isRecord) planning.totals.again.add(view.pair.remoteId);
  const what = isRecord ? 'record' : 'card';
  const reason = `The ${what} no longer matches the filter of the mapping and is left unchanged`;
  addPairRow(planning, view, { action: 'skip', reason });
}

function planBothPresent(planning: Planning, view: PairView): void {
  const { pair, recordState } = view;
  const card = view.card!;
  const primary = planning.pairIndex.primary.get(card.id);
  if (primary && primary !== pair && isLive(pair)) {
    const reason = `The card is synchronised with record ${primary.remoteId}; this record belonged to a card that was merged into it`;
    addPairRow(planning, view, { action: 'skip', reason });
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
function planReclassified(planning: Planning, view: PairView, to: string): void {
  const { remoteId, state } = view.pair;
  const reason = `The record was reclassified to ${to}, which the mapping does not read`;
  const winner = findResolution(planning, remoteId, null, null, to);
  if (winner === 'remote') {
    const plan = state.kind === 'quarantined' ? planQuarantined : planGone;
    plan(planning, { ...view, recordState: { kind: 'gone', evidence: 'look', isConfirmed: true } });
    return;
  }
  if (winner === 'local') {
    addPairRow(planning, view, {
      action: 'unlink',
      reason: `${reason}; a user decided to retain the card`,
      expects: { pair: state.kind },
      state: { kind: 'ended', gone: 'remote' },
    });
    return;
  }
  addPairRow(planning, view, {
    action: 'conflict',
    reason: `${reason}: its card is retained until a user decides`,
    diff: { '': { old: null, new: to } },
  });
  planning.totals.again.add(remoteId);
}
