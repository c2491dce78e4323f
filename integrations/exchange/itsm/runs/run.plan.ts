import { referencedMappings } from '../../../../domain/exchange/itsm/itsm.load.ts';
import { chunksOf } from '../../../../platform/chunks.ts';
import { canonical, isEqual, type TransformContext } from '../engine/fields.ts';
import type {
  Decision,
  LocalCard,
  Observation,
  Pair,
  Refusal,
  RemoteObservation,
  Resolution,
} from '../engine/model.types.ts';
import { creatingRowsIn } from '../engine/plan.links.ts';
import {
  checkDeletionLimit,
  type Part,
  type PartChoice,
  type PartSource,
  type PlanningTools,
  planMapping,
} from '../engine/plan.ts';
import type { Plan } from '../engine/plan.types.ts';
import { type Deferrals, emptySyncState, isChange, isRemoval } from '../engine/state.ts';
import type { RemoteRecord } from '../remote.ts';
import { readPairRows } from '../store/links.ts';
import {
  allPairs,
  changedRecords,
  countLivePairs,
  type DeferredRecord,
  deleteUncommittedDeferred,
  findDeleted,
  type IdPage,
  inconclusiveRecords,
  livePairs,
  markResolvedDeferred,
  observedPairs,
  type RecordObservation,
  readObserved,
  storeDeferred,
  unpairedCards,
  unpairedRecords,
} from '../store/observed.ts';
import { addPlanRows, deletePlan, findByCorrelationIds, readRestoredValues } from '../store/plan-rows.ts';
import {
  findParentCycles,
  loadPairs,
  loadReferences,
  type NewParent,
  readDecisions,
  readRefusals,
} from '../store/sync-state.ts';
import { linkParts } from './run.links.ts';
import { progressAfter, resumePoint, type SyncProgress } from './run.read.ts';
import type { RunWork } from './run.state.ts';

/** The number of records in a part. */
const CHUNK = 1_000;

/** Changes of the sync state after all rows of a plan have ended. */
export type RunClosing = SyncProgress & Pick<Plan['closing'], 'again' | 'absences'>;

/** The summary of a plan. */
export interface PlanSummary {
  /** How it exceeds the deletion limit; null if it does not. */
  stopped: string | null;
  /** The number of rows that change something. */
  changes: number;
  /** The number of live pairs. */
  pairs: number;
  /** The number of relations that a mapping blocks which is paused or cannot run. */
  blockedRelations: number;
  closing: RunClosing;
}

/**
 * Plans from what was read and stores the rows part by part. After an interruption it starts again, without further requests to
 * the remote. @param approved whether the rows are stored as approved.
 */
export async function planRun(
  work: RunWork,
  tools: Omit<PlanningTools, 'storeRows'>,
  onProgress: (rows: number) => void,
  approved = false,
): Promise<PlanSummary> {
  const { db, runId, mappingId, mapping } = work;
  await work.checkpoint({}, async (sql) => {
    await deletePlan(sql, runId);
    await deleteUncommittedDeferred(sql, mappingId);
  });
  const count = { removals: 0, changes: 0 };
  // a full read tries refused values again, since the cause may have been removed
  const refusals = work.complete ? [] : await readRefusals(db, mappingId);
  const planned = work.connector.omitsHiddenRecords ? { ...mapping, complete_reads: 0 } : mapping;
  const source = createPlanSource(work, { ...(await readDecisions(db, mappingId)), refusals });
  const totals = await planMapping(planned, source, {
    ...tools,
    storeRows: async (rows) => {
      count.removals += rows.filter(isRemoval).length;
      count.changes += rows.filter(isChange).length;
      await work.checkpoint({}, (sql) => addPlanRows(sql, runId, rows, approved));
      onProgress(rows.at(-1)!.no + 1);
    },
  });
  const { again, notOverwritten, deferred, absences, blockedRelations } = totals;
  // a later run in the other direction has to know the change that it overwrites, and it may be too old for its delta
  if (mapping.sync_direction !== mapping.mapping_direction) for (const id of notOverwritten) again.add(id);
  for (const id of await inconclusiveRecords(db, runId, mappingId)) again.add(id);
  await storeDeferrals(work, deferred, again);
  const pairs = await countLivePairs(db, mappingId);
  return {
    stopped: checkDeletionLimit(mapping, count.removals, pairs),
    changes: count.changes,
    pairs,
    blockedRelations,
    closing: { ...progressAfter(work), again: [...again].sort(), absences },
  };
}

/** Stores the deferred records, so that they need not be read again. */
async function storeDeferrals(work: RunWork, deferrals: Deferrals, again: Set<string>): Promise<void> {
  const { runId, mappingId, state } = work;
  // a record that was read without hidden columns is read again
  if (state.hidden.length > 0) for (const id of deferrals.keys()) again.add(id);
  const deferred = [...deferrals].flatMap(([remote_id, { records, cards }]): DeferredRecord[] =>
    again.has(remote_id) ? [] : [{ remote_id, records: [...records], cards: [...cards] }],
  );
  for (const some of chunksOf(deferred, CHUNK)) {
    work.signal.throwIfAborted();
    await work.checkpoint({}, (sql) => storeDeferred(sql, mappingId, runId, some));
  }
  // a run in one direction may not have planned what a run in the other direction has deferred
  if (state.hidden.length > 0 || work.mapping.sync_direction !== work.mapping.mapping_direction) return;
  await work.checkpoint({}, (sql) => markResolvedDeferred(sql, mappingId, runId));
}

/** Decisions and refusals of a mapping. */
interface Decisions {
  resolutions: Resolution[];
  decisions: Decision[];
  refusals: Refusal[];
}

/** Loads parts of what the run has read, of the stored sync state and of the inventory. */
function createPlanSource(work: RunWork, decisions: Decisions): PartSource {
  const { db, runId, mappingId, mapping, complete, state } = work;
  const kind = complete && !state.withheld ? 'complete' : 'delta';
  const observationOf = (
    remote: Partial<RemoteObservation>,
    local: Partial<Observation['local']>,
  ): Observation => ({
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
    ...decisions,
    now: state.now,
    remoteClockAheadMs: state.aheadMs ?? 0,
  });

  const loadPart = async ({ remoteIds = [], cardIds = [] }: PartChoice): Promise<Part> => {
    work.signal.throwIfAborted();
    const observed = remoteIds.length === 0 ? [] : await readObserved(db, runId, remoteIds);
    const allIds = [...new Set([...remoteIds, ...observed.map(({ remote_id }) => remote_id)])];
    const { pairs, redirects } = await loadPairs(db, mappingId, { remoteIds: allIds, cardIds });
    const wanted = new Set([
      ...cardIds,
      ...[...pairs.values()].map(({ cardId }) => cardId),
      ...redirects.values(),
    ]);
    const cards = await cardsWithTimes(work, [...wanted], pairs);
    const references = await loadReferences(db, mapping, recordsOf(observed), [...cards.values()], (ids) =>
      findDeleted(db, runId, ids),
    );
    const { cardOf } = references;
    const closesCycle = await createCycleCheck(work, pairs.values(), recordsOf(observed), cards, cardOf);
    return {
      syncState: { ...emptySyncState(), pairs },
      observation: {
        ...observationOf(remoteObservationOf(observed), { cards, redirects }),
        duplicates: await findDuplicates(work, recordsOf(observed), pairs),
        restoredValues:
          newestWinsPaths(work).length === 0
            ? []
            : await readRestoredValues(db, mappingId, [...wanted], newestWinsPaths(work)),
      },
      references: { ...references, ...(closesCycle && { closesCycle }) },
    };
  };

  const createsRecords =
    mapping.sync_direction !== 'pull' &&
    !state.withheld &&
    // after a full read of both directions a delta contains all records without a card
    (complete || !resumePoint(work).hasSkippedUnpaired);

  return {
    loadPart,
    pairsToPlan: () => pagesOf(complete ? allPairs(db, mappingId) : observedPairs(db, runId, mappingId)),
    allPairs: () => pagesOf(allPairs(db, mappingId)),
    livePairs: () => pagesOf(livePairs(db, mappingId)),
    unpairedRecords: () => pagesOf(unpairedRecords(db, runId, mappingId)),
    readRecords: () => pagesOf(changedRecords(db, runId)),
    unpairedCards: () => pagesOf(unpairedCards(db, mappingId, mapping.card_type_key)),
    decisions: decisions.decisions,
    createsRecords,
    refersToOwnMapping: (path) => referencedMappings(mapping)[path] === mappingId,
    findCreatingRows: async (remoteIds, cardIds) =>
      creatingRowsIn(await readPairRows(db, runId, { remoteIds, cardIds })),
    linkParts: async function* () {
      if (mapping.relations.length > 0) yield* linkParts(work, observationOf);
    },
  };
}

async function* pagesOf(page: IdPage): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const ids = await page(after, CHUNK);
    if (ids.length > 0) yield ids;
    if (ids.length < CHUNK) return;
    after = ids.at(-1)!;
  }
}

const recordsOf = (observed: readonly RecordObservation[]): RemoteRecord[] =>
  observed.flatMap(({ record }) => (record === null ? [] : [record]));

function remoteObservationOf(observed: readonly RecordObservation[]): Partial<RemoteObservation> {
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

/** Records without a pair that have the correlation id of a record that was created for a card. */
async function findDuplicates(
  { db, mappingId, connector: { correlationColumn: column } }: RunWork,
  records: readonly RemoteRecord[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, { of: string; cardId: string }>> {
  const correlationIds = new Map<string, string>();
  for (const { id, fields } of column === undefined ? [] : records) {
    const correlationId = fields[column!]?.value;
    if (typeof correlationId === 'string' && correlationId !== '' && !pairs.has(id))
      correlationIds.set(id, correlationId);
  }
  const originals = await findByCorrelationIds(db, mappingId, [...new Set(correlationIds.values())]);
  return new Map(
    [...correlationIds].flatMap(([id, correlationId]) => {
      const original = originals.get(correlationId);
      return original && original.of !== id ? [[id, original] as const] : [];
    }),
  );
}

/** Fields with the rule `newest_wins`. */
const newestWinsPaths = ({ mapping }: RunWork): string[] =>
  mapping.fields.flatMap(({ card_field: path, direction: rule }) => (rule === 'newest_wins' ? [path] : []));

/** Cards, with the times of change of fields that have the rule `newest_wins`. */
async function cardsWithTimes(
  work: RunWork,
  ids: string[],
  pairs: ReadonlyMap<string, Pair>,
): Promise<Map<string, LocalCard>> {
  const { db, cards } = work;
  const found = await cards.byIds(db, ids);
  const paths = newestWinsPaths(work);
  if (paths.length === 0 || pairs.size === 0) return found;
  const times = await cards.changedAt(db, [...found.keys()], paths);
  for (const [id, changedAt] of times) Object.assign(found.get(id)!, { changedAt });
  return found;
}

/** Finds the parents that a part may write and that would close a cycle with the parents of either side. */
async function createCycleCheck(
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
  const found = await findParentCycles(db, { runId, mappingId, column }, wanted);
  const cycles = new Set(found.map(({ card_id, parent_id }) => `${card_id} ${parent_id}`));
  return (cardId, parentId) => cycles.has(`${cardId} ${parentId}`);
}
