import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import type { TransformContext } from './fields.ts';
import type {
  Agreed,
  AgreedLink,
  LocalCard,
  Observation,
  Pair,
  Path,
  RemoteObservation,
  Side,
  StateChange,
  SyncState,
} from './model.types.ts';
import type { PlanRow } from './plan.types.ts';

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
export function indexPairs(pairs: SyncState['pairs'], redirects: ReadonlyMap<string, string>): PairIndex {
  const primary = new Map<string, Pair>();
  for (const pair of pairs.values()) {
    if (!isLive(pair)) continue;
    const card = survivorOf(pair.cardId, redirects);
    const other = primary.get(card);
    if (!other || isPreferredTo(pair, other, card)) primary.set(card, pair);
  }
  return {
    primary,
    cardOf: (remoteId) => {
      const pair = pairs.get(remoteId);
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
function isReportedGone({ remote, records, tombstones }: ObservationIndex, id: string): boolean {
  const lookup = remote.lookups.get(id);
  if (lookup?.kind === 'gone') return lookup.reclassified === undefined;
  return (lookup?.kind !== 'there' && tombstones.has(id)) || records.get(id)?.deleted === true;
}

/** The state of planning one part. */
export interface Planning {
  mapping: Mapping;
  syncState: SyncState;
  observation: Observation;
  index: ObservationIndex;
  pairIndex: PairIndex;
  /** All pairs, live or not, by surviving card. */
  pairsByCard: ReadonlyMap<string, Pair[]>;
  /** Cards that a user has un-mapped. */
  unmappedCards: ReadonlySet<string>;
  transformContext: TransformContext;
  /** The rows of this part. */
  rows: PlanRow[];
  totals: PlanTotals;
}

/** What planning collects over all parts. */
export interface PlanTotals {
  /** The number of rows. */
  rows: number;
  /** Cards whose record has returned, or may have: no other record is linked with them or created for them. */
  reserved: Set<string>;
  /** Records that the next run reads even if unchanged. */
  again: Set<string>;
  /** Records with a change that would be overwritten if the run wrote in both directions. */
  notOverwritten: Set<string>;
  /** Records with values that cannot be converted yet. */
  deferred: Deferrals;
  /** Those of these values that are references to objects without a pair. */
  openReferences: OpenReference[];
  /** The number of relations that a mapping blocks which is paused or cannot run. */
  blockedRelations: number;
  /** New values of the pairs' `absences`. */
  absences: Record<string, number>;
}

export const emptyTotals = (): PlanTotals => ({
  rows: 0,
  reserved: new Set(),
  again: new Set(),
  notOverwritten: new Set(),
  deferred: new Map(),
  openReferences: [],
  blockedRelations: 0,
  absences: {},
});

/**
 * Deferred records by remote id, and why: records and cards that need a pair first; `hasOtherCause`: a value that cannot
 * be converted.
 */
export type Deferrals = Map<string, { records: Set<string>; cards: Set<string>; hasOtherCause: boolean }>;

/** A reference to an object without a pair, which the same plan may create or link. */
export interface OpenReference {
  /** The side that is written. */
  side: Side;
  path: Path;
  /** The pair; the id that the plan is going to create is null. */
  remoteId: string | null;
  cardId: string | null;
  /** The row that creates the pair. */
  needs: number | null;
  /** The values of both sides. */
  values: { local: Value; remote: Value };
  base: Agreed | null;
  settled: boolean;
  /** The referenced record; if `side` is `remote`, the referenced card. */
  awaitedId: string;
}

/** Resolves references to objects that are not in the sync state of a part. */
export type References = Pick<TransformContext, 'cardOf' | 'recordOf' | 'closesCycle'>;

/** Begins planning a part. @param evaluate evaluates the formula of a transform. */
export function beginPlanning(
  mapping: Mapping,
  syncState: SyncState,
  observation: Observation,
  evaluate: TransformContext['evaluate'],
  references?: References,
  totals: PlanTotals = emptyTotals(),
): Planning {
  const known = indexPairs(syncState.pairs, observation.local.redirects);
  const cardOf = (id: string) => known.cardOf(id) ?? references?.cardOf(id);
  const index = indexObservation(observation.remote);
  const recordOf = (id: string) => {
    const record = known.presentRecordOf(id);
    return record !== undefined && !isReportedGone(index, record) ? record : references?.recordOf(id);
  };
  return {
    mapping,
    syncState,
    observation,
    index,
    pairIndex: known,
    pairsByCard: Map.groupBy(syncState.pairs.values(), ({ cardId }) =>
      survivorOf(cardId, observation.local.redirects),
    ),
    unmappedCards: findUnmappedCards(syncState),
    transformContext: {
      cardOf,
      recordOf,
      evaluate,
      ...(references?.closesCycle && { closesCycle: references.closesCycle }),
    },
    rows: [],
    totals,
  };
}

/** A row without its number; missing members are empty. */
export type Draft = Pick<PlanRow, 'action' | 'reason'> & Partial<Omit<PlanRow, 'no'>>;

/** An empty row. */
export const emptyRow: Omit<PlanRow, 'no' | 'action' | 'reason'> = {
  side: null,
  remoteId: null,
  cardId: null,
  diff: {},
  expects: {},
  needs: null,
  agreed: {},
  forgets: [],
  before: {},
  state: null,
  was: null,
  restored: null,
  drops: [],
  origin: null,
  candidates: [],
  link: null,
  baseLink: null,
  cards: null,
  path: null,
  refusedBy: null,
  settled: [],
  refers: {},
};

/** Adds a row to the plan. */
export function addRow(planning: Planning, draft: Draft): PlanRow {
  const row: PlanRow = { ...emptyRow, ...draft, no: planning.totals.rows };
  planning.totals.rows += 1;
  planning.rows.push(row);
  return row;
}

/** Defers a record. @param side the side that is to be written. */
export function defer(
  { totals: { deferred } }: Planning,
  remoteId: string,
  side: Side,
  awaitedId: string | undefined,
): void {
  const known = deferred.get(remoteId) ?? { records: new Set(), cards: new Set(), hasOtherCause: false };
  deferred.set(remoteId, known);
  if (awaitedId === undefined) known.hasOtherCause = true;
  else known[side === 'local' ? 'records' : 'cards'].add(awaitedId);
}

/** The card, unless it is archived or deleted. */
export function findActiveCard(planning: Planning, cardId: string): LocalCard | undefined {
  const card = planning.observation.local.cards.get(cardId);
  return card && !card.archived ? card : undefined;
}

/** A reference of a record that the plan resolves. */
export interface ResolvedReference {
  remoteId: string;
  awaitedId: string;
}

/** Removes resolved references, and records without another reason for being deferred. */
export function removeResolved(deferrals: Deferrals, resolved: readonly ResolvedReference[]): void {
  for (const { remoteId, awaitedId } of resolved) {
    const known = deferrals.get(remoteId);
    if (!known) continue;
    known.records.delete(awaitedId);
    known.cards.delete(awaitedId);
    if (known.records.size + known.cards.size === 0 && !known.hasOtherCause) deferrals.delete(remoteId);
  }
}

/** Whether a row changes something; the others are informative. */
export const isChange = ({ action }: PlanRow): boolean => !['conflict', 'stage', 'skip'].includes(action);

/** Whether a row counts towards the deletion limit. */
export const isRemoval = ({ action }: PlanRow): boolean => action === 'delete' || action === 'quarantine';
