import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import type { TransformContext } from './fields.ts';
import {
  type IdentityIndex,
  identityIndex,
  type Match,
  matchByDecision,
  matchByIdentity,
  matchByScore,
  type Scored,
  type Thing,
  takeMatched,
} from './match.ts';
import type { Decision, Observation, Path, Side, SyncState } from './model.types.ts';
import { beginPlanning, type DeferredWaits, type OpenReference, type Planning } from './plan.fields.ts';
import { type CreatingRows, type Ends, planLinks, planReferences, type Reached } from './plan.links.ts';
import { planPairs } from './plan.pairs.ts';
import type { PlanRow } from './plan.types.ts';
import {
  boundThings,
  type IdentityTakers,
  identityTakers,
  linkedRecords,
  openCards,
  openRecords,
  planCards,
  planRecord,
  readRecords,
  recordThing,
  returningThings,
  thing,
  unreadThings,
} from './plan.unmatched.ts';

/** References that are looked up at once. */
const LATE = 1_000;

/** What is asked about at once. */
export interface PartChoice {
  remoteIds?: readonly string[];
  cardIds?: readonly string[];
}

/** All that is known about some records and cards. */
export interface Part {
  /** Their pairs, and all other pairs of the same cards. */
  syncState: SyncState;
  /** What was read of these records and, with their pairs, of those they were merged into; the cards of all pairs. */
  seen: Observation;
  /** Cards and records that reference fields of these lead to. */
  beyond: Pick<TransformContext, 'cardOf' | 'recordOf' | 'makesCircle'>;
}

/** Relations that start from some records, as the sync state and both sides have them. */
export interface LinkPart {
  syncState: SyncState;
  seen: Observation;
  ends: Ends;
}

/** Where a plan is made from when it is too large to be seen at once. Streams give keys in the same order each time. */
export interface PartSource {
  part(choice: PartChoice): Promise<Part>;
  /** Records whose pairs are to be judged. */
  judged(): AsyncIterable<string[]>;
  /** Records of all pairs. */
  known(): AsyncIterable<string[]>;
  /** Records of all living pairs. */
  paired(): AsyncIterable<string[]>;
  /** Records that were read and have no living pair. */
  unpaired(): AsyncIterable<string[]>;
  /** All records that were read. */
  read(): AsyncIterable<string[]>;
  /** Cards of the type without a living pair. */
  openCards(): AsyncIterable<string[]>;
  decisions: readonly Decision[];
  /** Whether cards that are only here get a record. */
  creates: boolean;
  /** Whether what a reference field leads to is of this mapping. */
  leadsHere(path: Path): boolean;
  /** The rows of the plan so far that make cards of these records, or records of these cards. */
  makers(remoteIds: readonly string[], cardIds: readonly string[]): Promise<CreatingRows>;
  /** Relations to compare, by the records that they start from; each stands in one part only. Asked last. */
  links(): AsyncIterable<LinkPart>;
}

/** What one step of planning has come to. */
interface PlannedPart {
  rows: PlanRow[];
  again: string[];
  waits: DeferredWaits;
  /** What records of earlier parts need not wait for. */
  reached: Reached[];
  /** Relations that wait for a mapping that does not run now. */
  resting: number;
  absences: Record<string, number>;
}

/** What planning in parts asks of its caller; as for a plan at once, but likeness may take its time. */
export interface PartTools {
  score: (records: Thing[], cards: Thing[]) => Promise<Scored[]>;
  evaluate: TransformContext['evaluate'];
  /** Called when it is known who is who. */
  onMatched?: () => Promise<void>;
}

/** What of a plan in parts is kept in memory: keys alone. */
interface Unmatched {
  index: IdentityIndex;
  /** Cards without a pair. */
  open: Set<string>;
  /** Records that no identity field has settled, or a person has. */
  matches: Map<string, Match>;
}

/**
 * Makes the same plan as a plan made at once, from one part after the other, so that neither a table nor a plan is ever in
 * memory as a whole. The caller stores what comes, and counts removals for the deletion limit.
 */
export async function* planInParts(
  mapping: Mapping,
  source: PartSource,
  tools: PartTools,
): AsyncGenerator<PlannedPart> {
  let firstNo = 0;
  const reserved = new Set<string>();
  const begin = async (choice: PartChoice): Promise<Planning> => {
    const { syncState, seen, beyond } = await source.part(choice);
    return beginPlanning(mapping, syncState, seen, tools.evaluate, { firstNo, beyond, reserved });
  };
  const late: OpenReference[] = [];
  const handOver = (
    { rows, again, waits, resting, absences, ...more }: Planning,
    reached: Reached[] = [],
  ): PlannedPart => {
    firstNo += rows.length;
    late.push(...more.late.filter(({ path }) => source.leadsHere(path)));
    return { rows, again: [...again], waits, reached, resting, absences };
  };
  const claimed = new Set<string>();
  const index = identityIndex(mapping.fields);
  for await (const remoteIds of source.judged()) {
    const planning = await begin({ remoteIds });
    planPairs(planning, new Set(remoteIds));
    for (const id of linkedRecords(planning)) claimed.add(id);
    for (const one of returningThings(planning)) index.addBound(one);
    yield handOver(planning);
  }

  const unmatched = await indexUnmatched(index, source, begin, claimed);
  if (unmatched.open.size > 0) await matchAlike(source, begin, claimed, unmatched, tools);
  await tools.onMatched?.();
  const held = new Set<string>();
  for await (const remoteIds of source.unpaired()) {
    const alone = await begin({ remoteIds });
    const matches = new Map(
      openRecords(alone, claimed).map((record) => [record.id, matchOf(alone, unmatched, record)]),
    );
    const cardIds = [...matches.values()].flatMap((match) => (match.kind === 'link' ? [match.cardId] : []));
    const planning = cardIds.length === 0 ? alone : await begin({ remoteIds, cardIds });
    for (const record of openRecords(planning, claimed)) {
      const match = matches.get(record.id);
      if (match) planRecord(planning, record, match, held);
    }
    yield handOver(planning);
  }

  if (source.creates && unmatched.open.size > 0) {
    const takers = await takersOf(mapping, source, begin);
    for await (const cardIds of source.openCards()) {
      const planning = await begin({ cardIds });
      const asked = new Set(cardIds);
      const cards = openCards(planning).filter(({ id }) => asked.has(id));
      planCards(planning, cards, held, takers);
      yield handOver(planning);
    }
  }

  for (let at = 0; at < late.length; at += LATE) {
    const fields = late.slice(at, at + LATE);
    const led = (to: Side) => [...new Set(fields.flatMap(({ side, awaits }) => (side === to ? awaits : [])))];
    const makers = await source.makers(led('local'), led('remote'));
    const planning = await begin({});
    yield handOver(planning, planReferences(planning, fields, makers));
  }

  for await (const { syncState, seen, ends } of source.links()) {
    const planning = beginPlanning(mapping, syncState, seen, tools.evaluate, { firstNo });
    planLinks(planning, ends);
    yield handOver(planning);
  }
}

type Begin = (choice: PartChoice) => Promise<Planning>;

/** Reads all that has no pair once, and keeps who says what in the identity fields. @param index of the cards that come back. */
async function indexUnmatched(
  index: IdentityIndex,
  source: PartSource,
  begin: Begin,
  claimed: ReadonlySet<string>,
): Promise<Unmatched> {
  const decisions = new Map(source.decisions.map((one) => [one.remoteId, one]));
  const decided: Thing[] = [];
  let any = false;
  for await (const remoteIds of source.unpaired()) {
    const planning = await begin({ remoteIds });
    for (const record of openRecords(planning, claimed)) {
      any = true;
      const one = recordThing(planning, record);
      if (decisions.has(one.id)) decided.push(one);
      else index.addRecord(one);
    }
  }
  const matches = await decide(source, begin, decided);
  for (const one of decided) if (!matches.has(one.id)) index.addRecord(one);
  const taken = new Set([...matches.values()].map((match) => (match.kind === 'link' ? match.cardId : '')));
  const open = new Set<string>();
  for await (const cardIds of any || source.creates ? source.openCards() : []) {
    const planning = await begin({ cardIds });
    const asked = new Set(cardIds);
    for (const card of openCards(planning)) {
      if (!asked.has(card.id)) continue;
      open.add(card.id);
      if (any && !taken.has(card.id)) index.addCard(thing(planning, card));
    }
  }
  for await (const remoteIds of any ? source.paired() : []) {
    for (const one of boundThings(await begin({ remoteIds }), new Set(remoteIds))) index.addBound(one);
  }
  return { index, open, matches };
}

async function decide(
  { decisions }: PartSource,
  begin: Begin,
  decided: readonly Thing[],
): Promise<Map<string, Match>> {
  if (decided.length === 0) return new Map();
  const cardIds = decisions.flatMap(({ cardId }) => (cardId === null ? [] : [cardId]));
  const free = new Set(cardIds.length === 0 ? [] : openCards(await begin({ cardIds })).map(({ id }) => id));
  return matchByDecision(
    decided.map(({ id }) => id),
    decisions,
    (cardId) => free.has(cardId),
  );
}

/** Compares what no identity field has settled by its likeness. */
async function matchAlike(
  source: PartSource,
  begin: Begin,
  claimed: ReadonlySet<string>,
  { index, open, matches }: Unmatched,
  tools: PartTools,
): Promise<void> {
  const free = new Set(open);
  takeMatched(free, matches.values());
  const records: Thing[] = [];
  for await (const remoteIds of source.unpaired()) {
    const planning = await begin({ remoteIds });
    for (const record of openRecords(planning, claimed)) {
      const one = recordThing(planning, record);
      if (matches.has(one.id)) continue;
      const match = matchByIdentity(index.find(one));
      if (match) takeMatched(free, [match]);
      else records.push(one);
    }
  }
  if (records.length === 0 || free.size === 0) return;
  const cards: Thing[] = [];
  for await (const cardIds of source.openCards()) {
    const planning = await begin({ cardIds });
    for (const card of openCards(planning)) if (free.delete(card.id)) cards.push(thing(planning, card));
  }
  for (const [id, match] of matchByScore(await tools.score(records, cards))) matches.set(id, match);
}

function matchOf(planning: Planning, { index, matches }: Unmatched, record: RemoteRecord): Match {
  return (
    matches.get(record.id) ?? matchByIdentity(index.find(recordThing(planning, record))) ?? { kind: 'new' }
  );
}

/** Who has which identity fields already, before a record is made for a card. */
async function takersOf(mapping: Mapping, source: PartSource, begin: Begin): Promise<IdentityTakers> {
  const takers = identityTakers(mapping);
  for await (const remoteIds of source.known()) {
    const planning = await begin({ remoteIds });
    const asked = new Set(remoteIds);
    for (const one of boundThings(planning, asked)) takers.addCard(one);
    for (const one of unreadThings(planning, asked)) takers.addRecord(one);
  }
  for await (const remoteIds of source.read()) {
    const planning = await begin({ remoteIds });
    const asked = new Set(remoteIds);
    for (const record of readRecords(planning))
      if (asked.has(record.id)) takers.addRecord(recordThing(planning, record));
  }
  return takers;
}

/** Rows that change something; the others only tell. */
export const acts = ({ action }: PlanRow): boolean => !['conflict', 'stage', 'skip'].includes(action);

/** Whether a row counts towards the deletion limit. */
export const removes = ({ action }: PlanRow): boolean => action === 'delete' || action === 'quarantine';

/**
 * Why a plan exceeds the deletion limit of its mapping; null when it does not. Many removals at once are more likely an error of
 * the source than intended.
 */
export function tooMany(
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
