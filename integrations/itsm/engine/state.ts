import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import type { AgreedLink, Evidence, Pair, RemoteReading, StateChange, SyncState } from './model.types.ts';

/** An empty sync state: nothing was ever agreed on. */
export const emptySyncState = (): SyncState => ({
  pairs: new Map(),
  links: new Map(),
  again: new Set(),
  watermark: null,
});

/** What tells an agreed relation from all others. */
export const linkKey = ({ relationType, source, target }: AgreedLink): string =>
  JSON.stringify([relationType, source, target]);

/** Writes the changes into the sync state, in their order. Doing it twice has the outcome of once. */
export function applyChanges(syncState: SyncState, changes: readonly StateChange[]): void {
  for (const change of changes) {
    // a copy, since later changes are made in it
    if (change.op === 'pair')
      syncState.pairs.set(change.pair.remoteId, { ...change.pair, base: { ...change.pair.base } });
    else if (change.op === 'drop') syncState.pairs.delete(change.remoteId);
    else if (change.op === 'link') syncState.links.set(linkKey(change.link), change.link);
    else if (change.op === 'unlink') syncState.links.delete(linkKey(change.link));
    else if (change.op === 'again') syncState.again = new Set(change.remoteIds);
    else if (change.op === 'watermark') syncState.watermark = change.watermark;
    else amend(syncState.pairs.get(change.remoteId), change);
  }
}

type Amendment = Extract<StateChange, { op: 'base' | 'state' | 'absences' }>;

function amend(pair: Pair | undefined, change: Amendment): void {
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

/** Where a card has gone to by merges; itself when it was not merged. */
export function redirected(cardId: string, redirects: ReadonlyMap<string, string>): string {
  const seen = new Set<string>();
  let id = cardId;
  while (!seen.has(id)) {
    seen.add(id);
    const next = redirects.get(id);
    if (next === undefined) return id;
    id = next;
  }
  return id;
}

/** The identity map as it holds today, with the merges of cards followed. */
export interface Identities {
  /** The pair that speaks for a card: its own record, or the one that a merge brought along. */
  primary: ReadonlyMap<string, Pair>;
  /** The card of a record's pair today. */
  cardOf: (remoteId: string) => string | undefined;
  recordOf: (cardId: string) => string | undefined;
  /** The same for a reference that is to be written: a record that is known to be gone is none. */
  presentRecordOf: (cardId: string) => string | undefined;
}

/** A pair whose sides are kept in step, or wait for the removal of one. */
export const isLive = ({ state }: Pair): boolean => state.kind === 'linked' || state.kind === 'quarantined';

/**
 * Which pair speaks for which card. When a merge leaves a card with two records, its own stays with it, and the other
 * is an alias: it belongs to the card, and nothing is written to it. When the own one ends, the alias takes over.
 */
export function identities(syncState: SyncState, redirects: ReadonlyMap<string, string>): Identities {
  const primary = new Map<string, Pair>();
  for (const pair of syncState.pairs.values()) {
    if (!isLive(pair)) continue;
    const card = redirected(pair.cardId, redirects);
    const other = primary.get(card);
    if (!other || isPreferredTo(pair, other, card)) primary.set(card, pair);
  }
  return {
    primary,
    cardOf: (remoteId) => {
      const pair = syncState.pairs.get(remoteId);
      return pair && isLive(pair) ? redirected(pair.cardId, redirects) : undefined;
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

/** By card, the pairs that it is half of: live ones, also of cards that were merged into it, and those that a person took apart. */
export function boundPairs(
  syncState: SyncState,
  redirects: ReadonlyMap<string, string>,
): Map<string, Pair[]> {
  const bound = [...syncState.pairs.values()].filter(
    (pair) => isLive(pair) || pair.state.kind === 'unmapped',
  );
  return Map.groupBy(bound, (pair) => (isLive(pair) ? redirected(pair.cardId, redirects) : pair.cardId));
}

/** A pair that a row's card is half of, besides the row's own and those that end with it. */
export function otherPair(
  bound: ReadonlyMap<string, Pair[]>,
  redirects: ReadonlyMap<string, string>,
  { cardId, remoteId, drops }: { cardId: string; remoteId: string | null; drops: readonly string[] },
): Pair | undefined {
  // a card that was merged into another one has the records of that one
  const ids = new Set([redirected(cardId, redirects), cardId]);
  const pairs = [...ids].flatMap((id) => bound.get(id) ?? []);
  return pairs.find((pair) => pair.remoteId !== remoteId && !drops.includes(pair.remoteId));
}

/** Cards that a person took out of the synchronisation, by the pairs that were taken apart. */
export function unmappedCards(syncState: SyncState): Set<string> {
  const cards = new Set<string>();
  for (const { cardId, state } of syncState.pairs.values()) if (state.kind === 'unmapped') cards.add(cardId);
  return cards;
}

/** What a run knows of a record. */
export type RecordState =
  | { kind: 'there'; record: RemoteRecord }
  /** Not changed since it was last read. */
  | { kind: 'unread' }
  /** It is there, but no longer among what the mapping reads. */
  | { kind: 'outside' }
  /** A reading should have shown it and did not; that alone proves nothing. */
  | { kind: 'missing'; absences: number; reason: string }
  /** It is in the table of another class, which the mapping does not read. */
  | { kind: 'reclassified'; to: string }
  /** `decided`: a person has said that its counterpart goes. */
  | { kind: 'gone'; evidence: Evidence; mergedInto?: string; decided?: true };

/** A reading by key, so that each record is found at once. */
export interface ReadingIndex {
  reading: RemoteReading;
  records: Map<string, RemoteRecord>;
  tombstones: Map<string, { at: string; mergedInto?: string }>;
}

/** Orders a reading by key; of a record that was read more than once the newest state counts. */
export function indexReading(reading: RemoteReading): ReadingIndex {
  const records = new Map<string, RemoteRecord>();
  for (const record of reading.records) {
    const other = records.get(record.id);
    if (!other || other.updatedAt <= record.updatedAt) records.set(record.id, record);
  }
  return { reading, records, tombstones: new Map(reading.tombstones.map((one) => [one.id, one])) };
}

/** A record that a reading or a look has shown. */
export function findRecord({ reading, records }: ReadingIndex, id: string): RemoteRecord | undefined {
  const look = reading.looks.get(id);
  return records.get(id) ?? (look?.kind === 'there' ? look.record : undefined);
}

/** Whether the reading has found a record to be deleted: no reference to it is written. */
export function isReportedGone({ reading, records, tombstones }: ReadingIndex, id: string): boolean {
  const look = reading.looks.get(id);
  if (look?.kind === 'gone') return look.reclassified === undefined;
  return (look?.kind !== 'there' && tombstones.has(id)) || records.get(id)?.deleted === true;
}

/**
 * What has become of a pair's record. It is gone only after a tombstone, a look at it, or several complete readings
 * without it; a reading with a filter proves nothing, since the record may only no longer fit.
 */
export function recordStateOf(pair: Pair, mapping: Mapping, index: ReadingIndex): RecordState {
  const { reading, records, tombstones } = index;
  const record = records.get(pair.remoteId);
  const tombstone = tombstones.get(pair.remoteId);
  const look = reading.looks.get(pair.remoteId);
  if (look?.kind === 'gone' && look.reclassified !== undefined)
    return { kind: 'reclassified', to: look.reclassified };
  if (look?.kind === 'gone' || record?.deleted)
    return gone(look && !tombstone ? 'look' : 'tombstone', tombstone);
  if (look?.kind === 'there') {
    return mapping.filter_query !== null && !record
      ? { kind: 'outside' }
      : { kind: 'there', record: look.record };
  }
  if (record && !tombstone) return { kind: 'there', record };
  const { absences } = pair;
  const present = reading.present?.has(pair.remoteId);
  if (tombstone && (record || present)) {
    return { kind: 'missing', absences, reason: 'the remote both shows it and calls it deleted' };
  }
  if (tombstone) return gone('tombstone', tombstone);
  if (reading.kind !== 'complete' || present) return { kind: 'unread' };
  const enough = mapping.complete_reads;
  if (mapping.filter_query !== null || enough === 0) {
    return { kind: 'missing', absences, reason: 'the reading is without it, which proves nothing' };
  }
  // a look at this point has not been answered: it says neither that the record is there nor that it is not
  const readings = absences + 1;
  if (readings >= enough) return gone('readings', undefined);
  return { kind: 'missing', absences: readings, reason: `${readings} complete readings were without it` };
}

function gone(evidence: Evidence, tombstone: { mergedInto?: string } | undefined): RecordState {
  return { kind: 'gone', evidence, mergedInto: tombstone?.mergedInto };
}
