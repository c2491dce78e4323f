import { referencedMappings } from '../../../domain/exchange/itsm/mappings.load.ts';
import type { TransformContext } from '../engine/fields.ts';
import type {
  Decision,
  LocalCard,
  Observation,
  Pair,
  Refusal,
  RemoteObservation,
  Resolution,
} from '../engine/model.types.ts';
import type { Deferrals } from '../engine/plan.fields.ts';
import { creatingRowsIn, removeResolved } from '../engine/plan.links.ts';
import {
  checkDeletionLimit,
  isChange,
  isRemoval,
  type Part,
  type PartChoice,
  type PartSource,
  type PlanningTools,
  planInParts,
} from '../engine/plan.ts';
import type { Plan } from '../engine/plan.types.ts';
import { emptySyncState, indexPairs } from '../engine/state.ts';
import { canonical, isEqual } from '../engine/values.ts';
import type { RemoteRecord } from '../remote.ts';
import { plannedMakers } from '../store/links.ts';
import {
  addDeferred,
  allPairs,
  changedRecords,
  countLivePairs,
  type DeferredRecord,
  deletedAmong,
  dropUnsettledDeferred,
  endDeferred,
  type IdPage,
  livePairs,
  type NewParent,
  type ObservedRecord,
  observedPairs,
  parentCycles,
  readObserved,
  unknownRecords,
  unpairedCards,
  unpairedRecords,
} from '../store/observed.ts';
import { loadPairs } from '../store/pairs.ts';
import { addPlanRows, createdUnderMarks, deletePlan, readRestoredValues } from '../store/plan-rows.ts';
import { readDecisions, readRefusals } from '../store/review-items.ts';
import { linkParts } from './run.links.ts';
import { type Reached, type RunWork, reachedBy, resumePoint } from './run.state.ts';

/** Records that are kept at once. */
const CHUNK = 1_000;

/** What a plan comes to when all its rows have ended; the engine's, with what else the sync state remembers. */
export type RunClosing = Plan['closing'] & Reached;

/** A plan in figures. */
export interface MadePlan {
  /** Why it may not be applied without a person's word. */
  stopped: string | null;
  /** Rows that change something. */
  changes: number;
  /** Pairs that were there when it was made. */
  pairs: number;
  /** Relations that wait for a mapping that does not run now. */
  resting: number;
  closing: RunClosing;
}

/**
 * Makes the plan from what was read and stores its rows, a part at a time. A process that was killed makes it anew:
 * nothing is asked of the remote for it. @param approved whether its rows are stored as approved.
 */
export async function planRun(
  work: RunWork,
  tools: PlanningTools,
  told: (rows: number) => void,
  approved = false,
): Promise<MadePlan> {
  const { db, runId, mappingId, mapping } = work;
  await work.keep({}, async (sql) => {
    await deletePlan(sql, runId);
    await dropUnsettledDeferred(sql, mappingId);
  });
  const waits: Deferrals = new Map();
  const again = new Set<string>();
  const absences: Record<string, number> = {};
  const count = { rows: 0, removals: 0, changes: 0, resting: 0 };
  // a part is stored while the next one is made
  let storing = Promise.resolve();
  // what was refused is tried again with each complete reading: its cause may have gone
  const refusals = work.complete ? [] : await readRefusals(db, mappingId);
  const planned = work.connector.absenceProvesNothing ? { ...mapping, complete_reads: 0 } : mapping;
  const source = planSource(work, { ...(await readDecisions(db, mappingId)), refusals }, () => storing);
  try {
    for await (const { rows, ...part } of planInParts(planned, source, tools)) {
      work.signal.throwIfAborted();
      for (const id of part.again) again.add(id);
      for (const [id, wait] of part.deferred) waits.set(id, wait);
      removeResolved(waits, part.resolved);
      Object.assign(absences, part.absences);
      count.resting += part.blockedRelations;
      if (rows.length === 0) continue;
      count.rows += rows.length;
      count.removals += rows.filter(isRemoval).length;
      count.changes += rows.filter(isChange).length;
      await storing;
      storing = work.keep({}, (sql) => addPlanRows(sql, runId, rows, approved));
      storing.catch(() => {});
      told(count.rows);
    }
  } finally {
    // nothing is written any more once the run has been left; what it fails with is thrown below
    await storing.catch(() => {});
  }
  await storing;
  for (const id of await unknownRecords(db, runId, mappingId)) again.add(id);
  await keepWaiting(work, waits, again);
  const pairs = await countLivePairs(db, mappingId);
  return {
    stopped: checkDeletionLimit(mapping, count.removals, pairs),
    changes: count.changes,
    pairs,
    resting: count.resting,
    closing: { ...reachedBy(work), again: [...again].sort(), absences },
  };
}

/** Keeps what waits for others, so that the remote need not be asked for it. */
async function keepWaiting(work: RunWork, waits: Deferrals, again: Set<string>): Promise<void> {
  const { runId, mappingId, state } = work;
  // a record that was read without some of its columns is read again
  if (state.hidden.length > 0) for (const id of waits.keys()) again.add(id);
  const waiting = [...waits].flatMap(([remote_id, { records, cards }]): DeferredRecord[] =>
    again.has(remote_id) ? [] : [{ remote_id, records: [...records], cards: [...cards] }],
  );
  for (let at = 0; at < waiting.length; at += CHUNK) {
    work.signal.throwIfAborted();
    await work.keep({}, (sql) => addDeferred(sql, mappingId, runId, waiting.slice(at, at + CHUNK)));
  }
  // what a run of one direction has nothing to do with may wait for one of the other
  if (state.hidden.length > 0 || work.mapping.sync_direction !== work.mapping.mapping_direction) return;
  await work.keep({}, (sql) => endDeferred(sql, mappingId, runId));
}

/** A person's words that hold for the mapping. */
interface Decisions {
  resolutions: Resolution[];
  decisions: Decision[];
  refusals: Refusal[];
}

/**
 * The plan's source: what the run has read, the stored sync state and the inventory, a part at a time.
 * @param stored waits until all rows that the plan has so far are stored.
 */
function planSource(work: RunWork, words: Decisions, stored: () => Promise<void>): PartSource {
  const { db, runId, mappingId, mapping, complete, state } = work;
  const kind = complete && !state.withheld ? 'complete' : 'delta';
  const seenOf = (remote: Partial<RemoteObservation>, local: Partial<Observation['local']>): Observation => ({
    remote: {
      kind,
      records: [],
      tombstones: [],
      lookups: new Map(),
      watermark: null,
      hiddenColumns: state.hidden.length > 0,
      ...remote,
    },
    local: { cards: new Map(), redirects: new Map(), ...local },
    ...words,
    now: state.now,
    remoteClockAheadMs: state.aheadMs ?? 0,
  });

  const loadPart = async ({ remoteIds = [], cardIds = [] }: PartChoice): Promise<Part> => {
    const observed = remoteIds.length === 0 ? [] : await readObserved(db, runId, remoteIds);
    const named = [...new Set([...remoteIds, ...observed.map(({ remote_id }) => remote_id)])];
    const choice = { remoteIds: named, cardIds };
    const { pairs, redirects } = await loadPairs(db, mappingId, choice);
    const wanted = new Set([
      ...cardIds,
      ...[...pairs.values()].map(({ cardId }) => cardId),
      ...redirects.values(),
    ]);
    const cards = await cardsWithTimes(work, [...wanted], pairs);
    const beyond = await referredTo(work, recordsOf(observed), cards.values());
    const { cardOf } = beyond;
    const closesCycle = await circlesOf(work, pairs.values(), recordsOf(observed), cards, cardOf);
    return {
      syncState: { ...emptySyncState(), pairs },
      observation: {
        ...seenOf(readingOf(observed), { cards, redirects }),
        duplicates: await copiesAmong(work, recordsOf(observed), pairs),
        restoredValues:
          newestPaths(work).length === 0
            ? []
            : await readRestoredValues(db, mappingId, [...wanted], newestPaths(work)),
      },
      references: { ...beyond, ...(closesCycle && { closesCycle }) },
    };
  };

  const createsRecords =
    mapping.sync_direction !== 'pull' &&
    !state.withheld &&
    // what is mapped both ways was read completely before, and what was not mapped then is read now
    (complete || !resumePoint(work).passedOver);

  return {
    loadPart,
    pairsToPlan: () => walk(complete ? allPairs(db, mappingId) : observedPairs(db, runId, mappingId)),
    allPairs: () => walk(allPairs(db, mappingId)),
    livePairs: () => walk(livePairs(db, mappingId)),
    unpairedRecords: () => walk(unpairedRecords(db, runId, mappingId)),
    readRecords: () => walk(changedRecords(db, runId)),
    unpairedCards: () => walk(unpairedCards(db, mappingId, mapping.card_type_key)),
    decisions: words.decisions,
    createsRecords,
    refersToOwnMapping: (path) => referencedMappings(mapping)[path] === mappingId,
    findCreatingRows: async (remoteIds, cardIds) => {
      await stored();
      return creatingRowsIn(await plannedMakers(db, runId, { remoteIds, cardIds }));
    },
    linkParts: async function* () {
      // relations are told by the rows that make their ends
      await stored();
      if (mapping.relations.length > 0) yield* linkParts(work, seenOf);
    },
  };
}

async function* walk(page: IdPage): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const ids = await page(after, CHUNK);
    if (ids.length > 0) yield ids;
    if (ids.length < CHUNK) return;
    after = ids.at(-1)!;
  }
}

const recordsOf = (observed: readonly ObservedRecord[]): RemoteRecord[] =>
  observed.flatMap(({ record }) => (record === null ? [] : [record]));

function readingOf(observed: readonly ObservedRecord[]): Partial<RemoteObservation> {
  const lookups: RemoteObservation['lookups'] = new Map();
  for (const { remote_id, look, record, reclassified } of observed) {
    if (look === 'there') lookups.set(remote_id, record ? { kind: 'there', record } : { kind: 'unknown' });
    else if (look === 'gone')
      lookups.set(remote_id, { kind: look, ...(reclassified !== null && { reclassified }) });
    else if (look !== null) lookups.set(remote_id, { kind: look });
  }
  return {
    records: recordsOf(observed.filter(({ shown }) => shown)),
    tombstones: observed.flatMap(({ remote_id: id, tombstone }) =>
      tombstone === null ? [] : [{ table: '', id, ...tombstone }],
    ),
    lookups,
    shownIds: new Set(observed.flatMap(({ remote_id, shown }) => (shown ? [remote_id] : []))),
  };
}

/** Records without a pair that carry the mark of one which was made for a card. */
async function copiesAmong(
  { db, mappingId, connector: { correlationColumn: column } }: RunWork,
  records: readonly RemoteRecord[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, { of: string; cardId: string }>> {
  const marks = new Map<string, string>();
  for (const { id, fields } of column === undefined ? [] : records) {
    const mark = fields[column!]?.value;
    if (typeof mark === 'string' && mark !== '' && !pairs.has(id)) marks.set(id, mark);
  }
  const made = await createdUnderMarks(db, mappingId, [...new Set(marks.values())]);
  return new Map(
    [...marks].flatMap(([id, mark]) => {
      const one = made.get(mark);
      return one && one.of !== id ? [[id, one] as const] : [];
    }),
  );
}

/** Fields in which newer changes win. */
const newestPaths = ({ mapping }: RunWork): string[] =>
  mapping.fields.flatMap(({ card_field: path, direction: rule }) => (rule === 'newest_wins' ? [path] : []));

/** The cards; where newer changes win, with the moments at which single fields were changed. */
async function cardsWithTimes(
  work: RunWork,
  ids: string[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, LocalCard>> {
  const { db, cards } = work;
  const found = await cards.byIds(db, ids);
  const paths = newestPaths(work);
  if (paths.length === 0 || pairs.size === 0) return found;
  const moments = await cards.changedAt(db, [...found.keys()], paths);
  for (const [id, changedAt] of moments) Object.assign(found.get(id)!, { changedAt });
  return found;
}

/** Tells which of the parents that a part of a plan may write would make a circle of both sides' parents. */
async function circlesOf(
  { db, runId, mappingId, mapping }: RunWork,
  pairs: Iterable<Pair>,
  records: readonly RemoteRecord[],
  cards: ReadonlyMap<string, LocalCard>,
  cardOf: TransformContext['cardOf'],
): Promise<NonNullable<TransformContext['closesCycle']> | undefined> {
  const field = mapping.fields.find(({ card_field: path }) => path === 'parent_id');
  if (!field || (referencedMappings(mapping).parent_id ?? mappingId) !== mappingId) return undefined;
  const column = field.remote_field;
  const read = new Map(records.map((record) => [record.id, record]));
  const wanted: NewParent[] = [];
  for (const { remoteId, cardId, base } of pairs) {
    const agreed = base.parent_id;
    const local = canonical(cards.get(cardId)?.fields.parent_id);
    const record = read.get(remoteId);
    const remote = record ? canonical(record.fields[column]?.value) : (agreed?.remote ?? null);
    if (agreed && isEqual(local, agreed.local) && isEqual(remote, agreed.remote)) continue;
    for (const parent of [local, typeof remote === 'string' ? cardOf(remote) : null])
      if (typeof parent === 'string') wanted.push({ card_id: cardId, parent_id: parent });
  }
  const found = await parentCycles(db, { runId, mappingId, column }, wanted);
  const circles = new Set(found.map(({ card_id, parent_id }) => `${card_id} ${parent_id}`));
  return (cardId, parentId) => circles.has(`${cardId} ${parentId}`);
}

/** Who is who among the cards and records that reference fields lead to, which may be another mapping's. */
async function referredTo(
  { db, mapping, runId }: RunWork,
  records: readonly RemoteRecord[],
  cards: Iterable<LocalCard>,
): Promise<Part['references']> {
  const known: Part['references'][] = [];
  const all = [...cards];
  const fields = mapping.fields.filter(({ transform_type }) => transform_type === 'reference');
  const references = referencedMappings(mapping);
  const byMapping = Map.groupBy(fields, ({ card_field }) => references[card_field]!);
  for (const [mappingId, its] of byMapping) {
    const texts = (values: unknown[]) => [
      ...new Set(values.filter((value): value is string => typeof value === 'string' && value !== '')),
    ];
    const remoteIds = texts(
      records.flatMap((record) => its.map(({ remote_field: remote }) => record.fields[remote]?.value)),
    );
    const cardIds = texts(all.flatMap((card) => its.map(({ card_field: path }) => card.fields[path])));
    if (remoteIds.length + cardIds.length === 0) continue;
    const { pairs, redirects } = await loadPairs(db, mappingId, { remoteIds, cardIds });
    const gone = await deletedAmong(db, runId, [...pairs.keys()]);
    const who = indexPairs({ ...emptySyncState(), pairs }, redirects);
    const recordOf = (id: string) => {
      const record = who.presentRecordOf(id);
      return record !== undefined && gone.has(record) ? undefined : record;
    };
    known.push({ cardOf: who.cardOf, recordOf });
  }
  return {
    cardOf: (id) => first(known, ({ cardOf }) => cardOf(id)),
    recordOf: (id) => first(known, ({ recordOf }) => recordOf(id)),
  };
}

function first(known: readonly Part['references'][], of: (one: Part['references']) => string | undefined) {
  for (const one of known) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
