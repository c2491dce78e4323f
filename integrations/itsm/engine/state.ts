import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import { counted } from '../../../platform/counted.ts';
import type { RemoteRecord } from '../remote.ts';
import type { AgreedLink, Evidence, Pair, RemoteObservation, StateChange, SyncState } from './model.types.ts';

/** An empty sync state. */
export const emptySyncState = (): SyncState => ({
  pairs: new Map(),
  links: new Map(),
  again: new Set(),
  watermark: null,
});

/** The identity of an agreed relation. */
export const linkKey = ({ relationType, source, target }: AgreedLink): string =>
  JSON.stringify([relationType, source, target]);

/** Applies changes to the sync state in their order. Idempotent. */
export function applyChanges(syncState: SyncState, changes: readonly StateChange[]): void {
  for (const change of changes) {
    // a copy, because later changes modify it
    if (change.op === 'pair')
      syncState.pairs.set(change.pair.remoteId, { ...change.pair, base: { ...change.pair.base } });
    else if (change.op === 'drop') syncState.pairs.delete(change.remoteId);
    else if (change.op === 'link') syncState.links.set(linkKey(change.link), change.link);
    else if (change.op === 'unlink') syncState.links.delete(linkKey(change.link));
    else if (change.op === 'again') syncState.again = new Set(change.remoteIds);
    else if (change.op === 'watermark') syncState.watermark = change.watermark;
    else changePair(syncState.pairs.get(change.remoteId), change);
  }
}

type PairChange = Extract<StateChange, { op: 'base' | 'state' | 'absences' }>;

function changePair(pair: Pair | undefined, change: PairChange): void {
  if (!pair) return;
  if (change.op === 'state') pair.state = change.state;
  else if (change.op === 'absences') pair.absences = change.absences;
  else {
    for (const [path, agreed] of Object.entries(change.base)) {
      if (agreed === null) delete pair.base[path];
      else pair.base[path] = agreed;
    }
  }
}

/** The card into which a card was merged, transitively; the card itself if it was not merged. */
export function survivorOf(cardId: string, redirects: ReadonlyMap<string, string>): string {
  const visited = new Set<string>();
  let id = cardId;
  while (!visited.has(id)) {
    visited.add(id);
    const next = redirects.get(id);
    if (next === undefined) return id;
    id = next;
  }
  return id;
}

/** Live pairs by record and by surviving card. */
export interface PairIndex {
  /** By card, its primary pair: of its own record, or of the record of a card that was merged into it. */
  primary: ReadonlyMap<string, Pair>;
  /** The surviving card of a record. */
  cardOf: (remoteId: string) => string | undefined;
  recordOf: (cardId: string) => string | undefined;
  /** The record of a card for a reference that is written; undefined if the record is known to be gone. */
  presentRecordOf: (cardId: string) => string | undefined;
}

/** A pair that is linked or quarantined. */
export const isLive = ({ state }: Pair): boolean => state.kind === 'linked' || state.kind === 'quarantined';

/**
 * Finds the primary pair of each card. If a card has two records after a merge of cards, its own record is primary and the
 * other one an alias, to which nothing is written. When the primary pair ends, the alias becomes primary.
 */
export function indexPairs(syncState: SyncState, redirects: ReadonlyMap<string, string>): PairIndex {
  const primary = new Map<string, Pair>();
  for (const pair of syncState.pairs.values()) {
    if (!isLive(pair)) continue;
    const card = survivorOf(pair.cardId, redirects);
    const other = primary.get(card);
    if (!other || isPreferredTo(pair, other, card)) primary.set(card, pair);
  }
  return {
    primary,
    cardOf: (remoteId) => {
      const pair = syncState.pairs.get(remoteId);
      return pair && isLive(pair) ? survivorOf(pair.cardId, redirects) : undefined;
    },
    recordOf: (cardId) => primary.get(cardId)?.remoteId,
    presentRecordOf: (cardId) => {
      const pair = primary.get(cardId);
      const isGone = pair?.state.kind === 'quarantined' && pair.state.gone === 'remote';
      return isGone ? undefined : pair?.remoteId;
    },
  };
}

function isPreferredTo(pair: Pair, other: Pair, card: string): boolean {
  const rank = (one: Pair) => (one.state.kind === 'linked' ? 0 : 2) + (one.cardId === card ? 0 : 1);
  const [mine, theirs] = [rank(pair), rank(other)];
  return mine === theirs ? pair.remoteId < other.remoteId : mine < theirs;
}

/** By card, its live pairs, including those of cards that were merged into it, and its un-mapped pairs. */
export function groupPairsByCard(
  syncState: SyncState,
  redirects: ReadonlyMap<string, string>,
): Map<string, Pair[]> {
  const paired = [...syncState.pairs.values()].filter(
    (pair) => isLive(pair) || pair.state.kind === 'unmapped',
  );
  return Map.groupBy(paired, (pair) => (isLive(pair) ? survivorOf(pair.cardId, redirects) : pair.cardId));
}

/** A pair of a row's card other than the row's own pair and those that the row drops. */
export function findOtherPair(
  pairsByCard: ReadonlyMap<string, Pair[]>,
  redirects: ReadonlyMap<string, string>,
  { cardId, remoteId, drops }: { cardId: string; remoteId: string | null; drops: readonly string[] },
): Pair | undefined {
  // a merged card has the records of its survivor
  const ids = new Set([survivorOf(cardId, redirects), cardId]);
  const pairs = [...ids].flatMap((id) => pairsByCard.get(id) ?? []);
  return pairs.find((pair) => pair.remoteId !== remoteId && !drops.includes(pair.remoteId));
}

/** Cards that a user has un-mapped. */
export function findUnmappedCards(syncState: SyncState): Set<string> {
  const cards = new Set<string>();
  for (const { cardId, state } of syncState.pairs.values()) if (state.kind === 'unmapped') cards.add(cardId);
  return cards;
}

/** What a run knows about the record of a pair. */
export type RecordState =
  | { kind: 'there'; record: RemoteRecord }
  /** Not read, because it has not changed. */
  | { kind: 'unread' }
  /** It exists, but no longer matches the filter of the mapping. */
  | { kind: 'out_of_scope' }
  /** A full read did not contain it, which alone does not prove that it is gone. */
  | { kind: 'missing'; absences: number; reason: string }
  /** It is in the table of another class now, which the mapping does not read. */
  | { kind: 'reclassified'; to: string }
  /** `isConfirmed`: a user has decided that its counterpart is removed. */
  | { kind: 'gone'; evidence: Evidence; mergedInto?: string; isConfirmed?: true };

/** An observation of the remote, with its records and tombstones by remote id. */
export interface ObservationIndex {
  remote: RemoteObservation;
  records: Map<string, RemoteRecord>;
  tombstones: Map<string, { at: string; mergedInto?: string }>;
}

/** Indexes an observation. Of a record that was read more than once the newest state counts. */
export function indexObservation(remote: RemoteObservation): ObservationIndex {
  const records = new Map<string, RemoteRecord>();
  for (const record of remote.records) {
    const other = records.get(record.id);
    if (!other || other.updatedAt <= record.updatedAt) records.set(record.id, record);
  }
  return { remote, records, tombstones: new Map(remote.tombstones.map((one) => [one.id, one])) };
}

/** A record that was read in a page or by key. */
export function findRecord({ remote, records }: ObservationIndex, id: string): RemoteRecord | undefined {
  const lookup = remote.lookups.get(id);
  return records.get(id) ?? (lookup?.kind === 'there' ? lookup.record : undefined);
}

/** Whether a record was observed as deleted, so that no reference to it is written. */
export function isReportedGone({ remote, records, tombstones }: ObservationIndex, id: string): boolean {
  const lookup = remote.lookups.get(id);
  if (lookup?.kind === 'gone') return lookup.reclassified === undefined;
  return (lookup?.kind !== 'there' && tombstones.has(id)) || records.get(id)?.deleted === true;
}

/**
 * The state of a pair's record. It is gone only after a tombstone, a lookup by key, or several full reads without it. A read
 * with a filter proves nothing, since the record may no longer match the filter.
 */
export function recordStateOf(pair: Pair, mapping: Mapping, index: ObservationIndex): RecordState {
  const { remote, records, tombstones } = index;
  const record = records.get(pair.remoteId);
  const tombstone = tombstones.get(pair.remoteId);
  const lookup = remote.lookups.get(pair.remoteId);
  if (lookup?.kind === 'gone' && lookup.reclassified !== undefined)
    return { kind: 'reclassified', to: lookup.reclassified };
  if (lookup?.kind === 'gone' || record?.deleted)
    return gone(lookup && !tombstone ? 'look' : 'tombstone', tombstone);
  if (lookup?.kind === 'there') {
    return mapping.filter_query !== null && !record
      ? { kind: 'out_of_scope' }
      : { kind: 'there', record: lookup.record };
  }
  if (record && !tombstone) return { kind: 'there', record };
  const { absences } = pair;
  const present = remote.shownIds?.has(pair.remoteId);
  if (tombstone && (record || present)) {
    return { kind: 'missing', absences, reason: 'the remote returns it and also reports it as deleted' };
  }
  if (tombstone) return gone('tombstone', tombstone);
  if (remote.kind !== 'complete' || present) return { kind: 'unread' };
  const enough = mapping.complete_reads;
  if (mapping.filter_query !== null || enough === 0) {
    return { kind: 'missing', absences, reason: 'it was not in the full read, which proves nothing' };
  }
  // reading it by key was inconclusive
  const reads = absences + 1;
  if (reads >= enough) return gone('readings', undefined);
  return { kind: 'missing', absences: reads, reason: `it was not in ${counted(reads, 'full read')}` };
}

function gone(evidence: Evidence, tombstone: { mergedInto?: string } | undefined): RecordState {
  return { kind: 'gone', evidence, mergedInto: tombstone?.mergedInto };
}
