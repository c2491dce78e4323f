import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { TransformContext } from '../../../../integrations/exchange/itsm/engine/fields.ts';
import {
  matchByDecision,
  matchByScore,
  matchIdentities,
  removeMatchedCards,
  type ScoredPair,
  type UnmatchedItems,
} from '../../../../integrations/exchange/itsm/engine/match.ts';
import type {
  Decision,
  Observation,
  RemoteObservation,
  StateChange,
  SyncState,
} from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import {
  creatingRowsIn,
  endsOf,
  planLinks,
  planReferences,
} from '../../../../integrations/exchange/itsm/engine/plan.links.ts';
import { planPairs } from '../../../../integrations/exchange/itsm/engine/plan.pairs.ts';
import { checkDeletionLimit } from '../../../../integrations/exchange/itsm/engine/plan.ts';
import type {
  Match,
  MatchItem,
  Outcome,
  Plan,
} from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import {
  createIdentityOwners,
  itemOfCard,
  itemOfRecord,
  linkedRecords,
  pairedItems,
  planCards,
  planRecord,
  readRecords,
  restoredItems,
  unpairedCards,
  unpairedRecords,
  unreadItems,
} from '../../../../integrations/exchange/itsm/engine/plan.unmatched.ts';
import {
  beginPlanning,
  indexObservation,
  isLive,
  isRemoval,
  type PartOptions,
  type Planning,
  removeResolved,
  survivorOf,
} from '../../../../integrations/exchange/itsm/engine/state.ts';
import { invertRows } from '../../../../integrations/exchange/itsm/engine/undo.ts';

interface PlanTools {
  score: Scorer;
  evaluate: TransformContext['evaluate'];
  references?: PartOptions['references'];
}

/** Plans a whole observation at once; the reference for `planInParts`. */
export function planAtOnce(
  id: string,
  mapping: Mapping,
  syncState: SyncState,
  observation: Observation,
  { score, evaluate, references }: PlanTools,
): Plan {
  const planning = beginPlanning(mapping, syncState, observation, evaluate, references ? { references } : {});
  planPairs(planning);
  planUnmatched(planning, score);
  removeResolved(
    planning.deferred,
    planReferences(planning, planning.openReferences, creatingRowsIn(planning.rows)),
  );
  planLinks(planning, endsOf(planning));
  const pairs = [...syncState.pairs.values()].filter(isLive).length;
  return {
    id,
    mappingId: mapping.id,
    createdAt: observation.now,
    rows: planning.rows,
    stopped: checkDeletionLimit(mapping, planning.rows.filter(isRemoval).length, pairs),
    closing: {
      watermark: observation.remote.watermark,
      again: [...new Set([...planning.again, ...planning.deferred.keys()])].sort(),
      absences: planning.absences,
    },
  };
}

function planUnmatched(planning: Planning, score: Scorer): void {
  const { mapping, observation } = planning;
  const records = unpairedRecords(planning, new Set(linkedRecords(planning)));
  const cards = unpairedCards(planning);
  const unmatched = {
    records: records.map((record) => itemOfRecord(planning, record)),
    cards: cards.map((card) => itemOfCard(planning, card)),
    paired: [...restoredItems(planning), ...pairedItems(planning)],
  };
  const matches = matchRecords(mapping, unmatched, observation.decisions, score);
  const claimedCards = new Set<string>();
  for (const record of records) planRecord(planning, record, matches.get(record.id)!, claimedCards);
  if (
    mapping.sync_direction === 'pull' ||
    (mapping.sync_direction === 'push' && observation.remote.kind === 'delta')
  )
    return;
  const owners = createIdentityOwners(mapping);
  for (const one of pairedItems(planning)) owners.add('card', one);
  for (const record of readRecords(planning)) owners.add('record', itemOfRecord(planning, record));
  for (const one of unreadItems(planning)) owners.add('record', one);
  planCards(planning, cards, claimedCards, owners);
}

/** Scores the similarity of records and cards. May omit pairs that are not similar. */
export type Scorer = (records: MatchItem[], cards: MatchItem[]) => ScoredPair[];

/** Matches records with cards: by users' decisions, then by the identity fields, then by similarity. */
function matchRecords(
  mapping: Mapping,
  unmatched: UnmatchedItems,
  decisions: readonly Decision[],
  score: Scorer,
): Map<string, Match> {
  const free = new Map(unmatched.cards.map((card) => [card.id, card]));
  const matches = matchByDecision(
    unmatched.records.map(({ id }) => id),
    decisions,
    (cardId) => free.has(cardId),
  );
  const open = () => unmatched.records.filter(({ id }) => !matches.has(id));
  removeMatchedCards(free, matches.values());
  const rest = { records: open(), cards: [...free.values()], paired: unmatched.paired };
  for (const [id, match] of matchIdentities(mapping, rest)) if (match.kind !== 'new') matches.set(id, match);
  removeMatchedCards(free, matches.values());
  for (const [id, match] of matchByScore(score(open(), [...free.values()]))) matches.set(id, match);
  for (const { id } of open()) matches.set(id, { kind: 'new' });
  return matches;
}

/** The records that a run reads by key before it plans; equal to the stored queries. */
export function recordsToLookUp(syncState: SyncState, remote: RemoteObservation): string[] {
  const { records, tombstones } = indexObservation(remote);
  const wanted = [...tombstones.values()].flatMap(({ mergedInto }) =>
    mergedInto === undefined || records.has(mergedInto) || remote.lookups.has(mergedInto) ? [] : [mergedInto],
  );
  for (const remoteId of tombstones.keys()) {
    const state = syncState.pairs.get(remoteId)?.state.kind;
    const isKnown = state !== undefined && state !== 'unmapped' && state !== 'removed';
    if (isKnown || records.has(remoteId)) wanted.push(remoteId);
  }
  for (const { remoteId, state } of syncState.pairs.values()) {
    if (state.kind === 'unmapped' || state.kind === 'removed' || tombstones.has(remoteId)) continue;
    if (!records.has(remoteId) && remote.kind === 'complete') wanted.push(remoteId);
  }
  return [...new Set(wanted)].filter((id) => !remote.lookups.has(id));
}

/** Un-maps a card in memory: its pairs and those of cards that were merged into it. */
export const unmap = (
  syncState: SyncState,
  cardId: string,
  redirects: ReadonlyMap<string, string>,
): StateChange[] =>
  [...syncState.pairs.values()]
    .filter((pair) => survivorOf(pair.cardId, redirects) === cardId)
    .map(({ remoteId }): StateChange => ({ op: 'state', remoteId, state: { kind: 'unmapped' } }));

/** Maps an un-mapped record again in memory. */
export function remap({ pairs, again }: SyncState, remoteId: string): void {
  const pair = pairs.get(remoteId);
  if (pair?.state.kind !== 'unmapped') return;
  pair.state = { kind: 'linked' };
  again.add(remoteId);
}

/** Plans the undo of an applied plan in memory. */
export function undoPlan(
  id: string,
  { id: of, mappingId, rows }: Plan,
  outcomes: ReadonlyMap<number, Outcome>,
  { pairs, watermark, again }: SyncState,
  now: string,
): Plan {
  const applied = rows.toReversed().flatMap((row) => {
    const { progress, createdId = null } = outcomes.get(row.no) ?? {};
    return progress === 'applied' ? [{ row, createdId }] : [];
  });
  const closing = { watermark, again: [...again].sort(), absences: {} };
  return { id, mappingId, createdAt: now, rows: invertRows(of, applied, pairs), stopped: null, closing };
}
