import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { chunksOf } from '../../../../platform/chunks.ts';
import type { RemoteRecord } from '../remote.ts';
import type { TransformContext } from './fields.ts';
import { matchByDecision, matchByScore, removeMatchedCards, type ScoredPair } from './match.ts';
import type { Decision, Observation, Path, Side, SyncState } from './model.types.ts';
import { type CreatingRows, type Ends, planLinks, planReferences } from './plan.links.ts';
import { planPairs } from './plan.pairs.ts';
import type { Match, MatchItem, PlanRow } from './plan.types.ts';
import {
  createIdentityOwners,
  type IdentityIndex,
  type IdentityOwners,
  identityIndex,
  itemOfCard,
  itemOfRecord,
  linkedRecords,
  matchByIdentity,
  pairedItems,
  planCards,
  planRecord,
  readRecords,
  restoredItems,
  unpairedCards,
  unpairedRecords,
  unreadItems,
} from './plan.unmatched.ts';
import {
  beginPlanning,
  emptyTotals,
  type Planning,
  type PlanTotals,
  type References,
  removeResolved,
} from './state.ts';

/** References that are planned together. */
const REFERENCE_BATCH = 1_000;

/** Selects a part of the records and cards. */
export interface PartChoice {
  remoteIds?: readonly string[];
  cardIds?: readonly string[];
}

/** Everything that is known about some records and cards. */
export interface Part {
  /** Their pairs, and all other pairs of their cards. */
  syncState: SyncState;
  /** Observations of these records and of those that they were merged into; the cards of all pairs. */
  observation: Observation;
  /** Resolves the cards and records that their reference fields refer to. */
  references: References;
}

/** Relations with their source in some records: those of both sides and those of the sync state. */
export interface LinkPart {
  syncState: SyncState;
  observation: Observation;
  ends: Ends;
}

/** Loads the input of a plan in parts, so that it need not fit into memory. Each stream yields ids in a stable order. */
export interface PartSource {
  loadPart(choice: PartChoice): Promise<Part>;
  /** Records whose pairs are planned. */
  pairsToPlan(): AsyncIterable<string[]>;
  /** Records of all pairs. */
  allPairs(): AsyncIterable<string[]>;
  /** Records of all live pairs. */
  livePairs(): AsyncIterable<string[]>;
  /** Records that were read and have no live pair. */
  unpairedRecords(): AsyncIterable<string[]>;
  /** All records that were read. */
  readRecords(): AsyncIterable<string[]>;
  /** Cards of the mapping's type without a live pair. */
  unpairedCards(): AsyncIterable<string[]>;
  decisions: readonly Decision[];
  /** Whether records are created for cards without a record. */
  createsRecords: boolean;
  /** Whether a reference field refers to objects of the same mapping. */
  refersToOwnMapping(path: Path): boolean;
  /** Finds the rows planned so far that create or link the cards of these records, or the records of these cards. */
  findCreatingRows(remoteIds: readonly string[], cardIds: readonly string[]): Promise<CreatingRows>;
  /** Relations to compare, grouped by source; each is in one part only. Called last. */
  linkParts(): AsyncIterable<LinkPart>;
}

/** The functions that planning uses. */
export interface PlanningTools {
  score: (records: MatchItem[], cards: MatchItem[]) => Promise<ScoredPair[]>;
  evaluate: TransformContext['evaluate'];
  /** Called when matching has ended. */
  onMatched?: () => Promise<void>;
  /** Stores the rows of a part; called part by part. */
  storeRows: (rows: PlanRow[]) => Promise<void>;
}

/** The state of matching across parts. It contains only ids. */
interface MatchingState {
  index: IdentityIndex;
  /** Cards without a pair. */
  unpairedCards: Set<string>;
  /** Matches by users' decisions and by similarity. */
  matches: Map<string, Match>;
}

/**
 * Plans a mapping part by part, so that neither a table nor the plan is in memory as a whole. The caller checks the deletion
 * limit.
 */
export async function planMapping(
  mapping: Mapping,
  source: PartSource,
  tools: PlanningTools,
): Promise<PlanTotals> {
  const totals = emptyTotals();
  const begin = async (choice: PartChoice): Promise<Planning> => {
    const { syncState, observation, references } = await source.loadPart(choice);
    return beginPlanning(mapping, syncState, observation, tools.evaluate, references, totals);
  };
  const finish = async ({ rows }: Planning) => {
    if (rows.length > 0) await tools.storeRows(rows);
  };
  const claimed = new Set<string>();
  const index = identityIndex(mapping.fields);
  for await (const remoteIds of source.pairsToPlan()) {
    const planning = await begin({ remoteIds });
    planPairs(planning, new Set(remoteIds));
    for (const id of linkedRecords(planning)) claimed.add(id);
    for (const one of restoredItems(planning)) index.add('paired', one);
    await finish(planning);
  }
  const matching = await indexUnmatched(index, source, begin, claimed);
  if (matching.unpairedCards.size > 0) await matchSimilar(source, begin, claimed, matching, tools);
  await tools.onMatched?.();
  const claimedCards = new Set<string>();
  for await (const remoteIds of source.unpairedRecords()) {
    const alone = await begin({ remoteIds });
    const matches = new Map(
      unpairedRecords(alone, claimed).map((record) => [record.id, matchOf(alone, matching, record)]),
    );
    const cardIds = [...matches.values()].flatMap((match) => (match.kind === 'link' ? [match.cardId] : []));
    const planning = cardIds.length === 0 ? alone : await begin({ remoteIds, cardIds });
    for (const record of unpairedRecords(planning, claimed)) {
      const match = matches.get(record.id);
      if (match) planRecord(planning, record, match, claimedCards);
    }
    await finish(planning);
  }
  if (source.createsRecords && matching.unpairedCards.size > 0) {
    const owners = await findIdentityOwners(mapping, source, begin);
    for await (const cardIds of source.unpairedCards()) {
      const planning = await begin({ cardIds });
      const asked = new Set(cardIds);
      const cards = unpairedCards(planning).filter(({ id }) => asked.has(id));
      planCards(planning, cards, claimedCards, owners);
      await finish(planning);
    }
  }
  const openReferences = totals.openReferences.filter(({ path }) => source.refersToOwnMapping(path));
  for (const fields of chunksOf(openReferences, REFERENCE_BATCH)) {
    const awaitedBy = (to: Side) => [
      ...new Set(fields.flatMap(({ side, awaitedId }) => (side === to ? awaitedId : []))),
    ];
    const creatingRows = await source.findCreatingRows(awaitedBy('local'), awaitedBy('remote'));
    const planning = await begin({});
    removeResolved(totals.deferred, planReferences(planning, fields, creatingRows));
    await finish(planning);
  }
  for await (const { syncState, observation, ends } of source.linkParts()) {
    const planning = beginPlanning(mapping, syncState, observation, tools.evaluate, undefined, totals);
    planLinks(planning, ends);
    await finish(planning);
  }
  return totals;
}

type Begin = (choice: PartChoice) => Promise<Planning>;

async function* unpairedRecordItems(
  source: PartSource,
  begin: Begin,
  claimed: ReadonlySet<string>,
): AsyncGenerator<MatchItem> {
  for await (const remoteIds of source.unpairedRecords()) {
    const planning = await begin({ remoteIds });
    for (const record of unpairedRecords(planning, claimed)) yield itemOfRecord(planning, record);
  }
}

async function* unpairedCardItems(source: PartSource, begin: Begin): AsyncGenerator<MatchItem> {
  for await (const cardIds of source.unpairedCards()) {
    const planning = await begin({ cardIds });
    const asked = new Set(cardIds);
    for (const card of unpairedCards(planning)) if (asked.has(card.id)) yield itemOfCard(planning, card);
  }
}

/** Indexes all records and cards without a pair by identity. @param index already contains the cards that are restored. */
async function indexUnmatched(
  index: IdentityIndex,
  source: PartSource,
  begin: Begin,
  claimed: ReadonlySet<string>,
): Promise<MatchingState> {
  const decisions = new Map(source.decisions.map((one) => [one.remoteId, one]));
  const decided: MatchItem[] = [];
  let hasRecords = false;
  for await (const one of unpairedRecordItems(source, begin, claimed)) {
    hasRecords = true;
    if (decisions.has(one.id)) decided.push(one);
    else index.add('records', one);
  }
  const matches = await matchDecided(source, begin, decided);
  for (const one of decided) if (!matches.has(one.id)) index.add('records', one);
  const taken = new Set([...matches.values()].map((match) => (match.kind === 'link' ? match.cardId : '')));
  const free = new Set<string>();
  for await (const one of hasRecords || source.createsRecords ? unpairedCardItems(source, begin) : []) {
    free.add(one.id);
    if (hasRecords && !taken.has(one.id)) index.add('cards', one);
  }
  for await (const remoteIds of hasRecords ? source.livePairs() : []) {
    for (const one of pairedItems(await begin({ remoteIds }), new Set(remoteIds))) index.add('paired', one);
  }
  return { index, unpairedCards: free, matches };
}

async function matchDecided(
  { decisions }: PartSource,
  begin: Begin,
  decided: readonly MatchItem[],
): Promise<Map<string, Match>> {
  if (decided.length === 0) return new Map();
  const cardIds = decisions.flatMap(({ cardId }) => (cardId === null ? [] : [cardId]));
  const free = new Set(
    cardIds.length === 0 ? [] : unpairedCards(await begin({ cardIds })).map(({ id }) => id),
  );
  return matchByDecision(
    decided.map(({ id }) => id),
    decisions,
    (cardId) => free.has(cardId),
  );
}

/** Matches by similarity the records that neither a decision nor their identity has matched. */
async function matchSimilar(
  source: PartSource,
  begin: Begin,
  claimed: ReadonlySet<string>,
  { index, unpairedCards: all, matches }: MatchingState,
  tools: PlanningTools,
): Promise<void> {
  const free = new Set(all);
  removeMatchedCards(free, matches.values());
  const records: MatchItem[] = [];
  for await (const one of unpairedRecordItems(source, begin, claimed)) {
    if (matches.has(one.id)) continue;
    const match = matchByIdentity(index.find(one));
    if (match) removeMatchedCards(free, [match]);
    else records.push(one);
  }
  if (records.length === 0 || free.size === 0) return;
  const cards: MatchItem[] = [];
  for await (const one of unpairedCardItems(source, begin)) if (free.delete(one.id)) cards.push(one);
  for (const [id, match] of matchByScore(await tools.score(records, cards))) matches.set(id, match);
}

function matchOf(planning: Planning, { index, matches }: MatchingState, record: RemoteRecord): Match {
  return (
    matches.get(record.id) ?? matchByIdentity(index.find(itemOfRecord(planning, record))) ?? { kind: 'new' }
  );
}

/**
 * How a plan exceeds the deletion limit of its mapping; null if it does not. Many removals in one run are more likely an error
 * at the source than intended.
 */
export function checkDeletionLimit(
  { max_deletions: maxCount, max_deletion_ratio: maxRatio }: Mapping,
  count: number,
  pairs: number,
): string | null {
  if (count === 0) return null;
  if (count > maxCount) return `${count} removals are more than the ${maxCount} that are allowed in one run.`;
  if (count / pairs <= maxRatio) return null;
  const percent = (ratio: number) => `${Math.round(ratio * 1000) / 10} %`;
  return `${count} removals among ${pairs} pairs are more than the ${percent(maxRatio)} that are allowed in one run.`;
}

/** Indexes the identities of all existing records and paired cards, so that no duplicate record is created for a card. */
async function findIdentityOwners(
  mapping: Mapping,
  source: PartSource,
  begin: Begin,
): Promise<IdentityOwners> {
  const owners = createIdentityOwners(mapping);
  for await (const remoteIds of source.allPairs()) {
    const planning = await begin({ remoteIds });
    const asked = new Set(remoteIds);
    for (const one of pairedItems(planning, asked)) owners.add('card', one);
    for (const one of unreadItems(planning, asked)) owners.add('record', one);
  }
  for await (const remoteIds of source.readRecords()) {
    const planning = await begin({ remoteIds });
    const asked = new Set(remoteIds);
    for (const record of readRecords(planning))
      if (asked.has(record.id)) owners.add('record', itemOfRecord(planning, record));
  }
  return owners;
}
