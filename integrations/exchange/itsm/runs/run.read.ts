import {
  isLastFullReadByPush,
  referencedMappings,
  type SyncStateRow,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import { logRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { chunksOf } from '../../../../platform/chunks.ts';
import { isLocalEcho, isRemoteEcho } from '../engine/fields.ts';
import { isRemoteError, type RecordLookup, type RemoteRecord, type RemoteTombstone } from '../remote.ts';
import {
  createObservation,
  findDeferred,
  findGone,
  findObserved,
  type IdPage,
  missingRecords,
  observeDeferred,
  type RecordObservation,
  storeObserved,
  unconfirmedDeletions,
} from '../store/observed.ts';
import { loadPairs } from '../store/sync-state.ts';
import { checkRelationEnds, readDeletedRelations, readRelations } from './run.links.ts';
import {
  newestOf,
  type Phase,
  phases,
  type RunInput,
  type RunState,
  type RunWork,
  readAhead,
} from './run.state.ts';

/** The number of records in a chunk, and in a lookup by key. */
const CHUNK = 1_000;

const LOOKUP_BATCH = 500;

type Read = (work: RunWork) => Promise<void>;

const ofRelations =
  (read: Read): Read =>
  async (work) => {
    if (work.mapping.relations.length > 0) await read(work);
  };

const readers: Record<Exclude<Phase, 'plan'>, Read> = {
  records: readRecords,
  again: readAgain,
  deletions: readDeletions,
  looks: readUnconfirmedDeletions,
  local: readInventoryChanges,
  relations: ofRelations(readRelations),
  relation_deletions: ofRelations(readDeletedRelations),
  ends: ofRelations(checkRelationEnds),
};

/** Reads the input of the plan, page by page. Each page is stored with the cursor of the next, from which a run resumes. */
export async function readForRun(work: RunWork): Promise<void> {
  for (let at = phases.indexOf(work.state.phase); ; at += 1) {
    work.signal.throwIfAborted();
    const phase = phases[at]!;
    if (phase === 'plan') return;
    await readers[phase](work);
    await work.checkpoint({ phase: phases[at + 1]!, cursor: null });
  }
}

/** Columns that the mapping needs. */
const columnsOf = ({ mapping, connector: { correlationColumn } }: RunWork): string[] => [
  ...new Set([
    ...mapping.fields.map(({ remote_field: remote }) => remote),
    // identifies records that were created twice
    ...(correlationColumn === undefined ? [] : [correlationColumn]),
  ]),
];

async function readRecords(work: RunWork): Promise<void> {
  try {
    await readRecordPages(work);
  } catch (error) {
    if (work.complete || !isRemoteError(error, 'resync_needed')) throw error;
    await work.checkpoint({ cursor: null, delta: null }, async (sql) => {
      await sql('itsm_runs').where({ id: work.runId }).update({ complete: true });
      await logRun(sql, work.runId, 'read', 'warning', `${error.what}; everything is read.`);
    });
    work.complete = true;
    await readRecordPages(work);
  }
}

async function readRecordPages(work: RunWork): Promise<void> {
  const { connector, mapping, complete } = work;
  const filter = mapping.filter_query ?? undefined;
  const request = { table: mapping.remote_table, fields: columnsOf(work), filter, limit: work.page };
  const pages = readAhead(work, (cursor) =>
    complete
      ? connector.readPage({ ...request, cursor })
      : connector.readSince({
          ...request,
          cursor,
          since: resumePoint(work).watermark,
          token: work.syncState.delta_token,
        }),
  );
  for await (const page of pages) {
    const { changed, late } = await changedRecordsOfPage(work, page.records);
    const { state } = work;
    await work.checkpoint(
      {
        cursor: page.next,
        fetched: state.fetched + page.records.length,
        late: (state.late ?? 0) + late,
        withheld: state.withheld || page.hasHiddenRows,
        aheadMs: connector.clockAheadMs() ?? state.aheadMs,
        newest: newestOf(page.records, state.newest),
        delta: page.deltaToken ?? state.delta ?? null,
      },
      async (sql) => {
        await storeObserved(sql, work.runId, changed);
        await storeObserved(sql, work.runId, (page.removed ?? []).map(observedRemoval));
      },
    );
  }
}

/** The remote reports a deletion; a record that returns on a later page is observed again. */
const observedRemoval = ({ id, at }: RemoteTombstone): RecordObservation =>
  createObservation(id, { tombstone: { at }, look: 'gone' });

/** A change this much older than the last run, but not in it, is counted as late. Time zones differ by at least 30 minutes. */
const LATE_MS = 25 * 60_000;

/**
 * The observations of a page, without own writes and changes of unmapped columns; and the number of late changes of paired
 * records.
 */
async function changedRecordsOfPage(
  work: RunWork,
  records: readonly RemoteRecord[],
): Promise<{ changed: RecordObservation[]; late: number }> {
  const { db, runId, mappingId, mapping, complete, syncState } = work;
  const remoteIds = records.map(({ id }) => id);
  const before = await findObserved(db, runId, remoteIds);
  const gone = before.size === 0 ? before : await findGone(db, runId, [...before]);
  const { pairs } = await loadPairs(db, mappingId, { remoteIds });
  const open = new Set([...syncState.again, ...(await findDeferred(db, mappingId, remoteIds))]);
  const { watermark } = resumePoint(work);
  const lateBefore =
    complete || watermark === null ? Number.NEGATIVE_INFINITY : Date.parse(watermark) - LATE_MS;
  let late = 0;
  const rows = records.flatMap((record): RecordObservation[] => {
    const pair = pairs.get(record.id);
    const settled =
      pair?.state.kind === 'linked' &&
      pair.absences === 0 &&
      !record.deleted &&
      !open.has(record.id) &&
      !before.has(record.id);
    const known = settled && isRemoteEcho(mapping, pair, record);
    if (known && !complete) return [];
    const at = Date.parse(record.updatedAt);
    // zero: unknown
    if (settled && !known && at > 0 && at < lateBefore) late += 1;
    const row = createObservation(record.id, {
      record: known ? null : withoutDisplayValues(record),
      shown: true,
    });
    // it may have been reported as deleted on an earlier page
    return [gone.has(record.id) ? { ...row, look: 'there' } : row];
  });
  return { changed: rows, late };
}

const withoutDisplayValues = (record: RemoteRecord): RemoteRecord => ({
  ...record,
  fields: Object.fromEntries(Object.entries(record.fields).map(([name, { value }]) => [name, { value }])),
});

/** Reads by key the records that earlier runs have left open. */
async function readAgain(work: RunWork): Promise<void> {
  const { complete, syncState } = work;
  if (complete) return;
  const { watermark } = resumePoint(work);
  const ids = [...syncState.again].sort();
  for (let at = Number(work.state.cursor ?? 0); at < ids.length; at += LOOKUP_BATCH) {
    const batch = ids.slice(at, at + LOOKUP_BATCH);
    const known = await findObserved(work.db, work.runId, batch);
    const unknown = batch.filter((id) => !known.has(id));
    const lookups = await readByKey(work, unknown);
    const rows = lookups.map(([id, lookup]) => {
      if (lookup.kind !== 'there') return observedByKey(id, lookup);
      // an unchanged record still matches the filter
      const matches = work.mapping.filter_query === null || lookup.record.updatedAt <= (watermark ?? '');
      const record = withoutDisplayValues(lookup.record);
      return createObservation(id, { record, shown: matches, look: matches ? null : 'there' });
    });
    await work.checkpoint({ cursor: String(at + LOOKUP_BATCH) }, (sql) =>
      storeObserved(sql, work.runId, rows),
    );
  }
}

async function readByKey(work: RunWork, ids: string[]): Promise<[string, RecordLookup][]> {
  if (ids.length === 0) return [];
  work.signal.throwIfAborted();
  const { connector, mapping } = work;
  const lookups = [...(await connector.readByIds(mapping.remote_table, ids, columnsOf(work)))];
  const gone = lookups.flatMap(([id, { kind }]) => (kind === 'gone' ? [id] : []));
  if (gone.length === 0 || !connector.findReclassified) return lookups;
  const classes = await connector.findReclassified(gone);
  return lookups.map(([id, lookup]): [string, RecordLookup] => {
    const reclassified = classes.get(id);
    return [
      id,
      lookup.kind === 'gone' && reclassified !== undefined ? { kind: 'gone', reclassified } : lookup,
    ];
  });
}

const observedByKey = (id: string, lookup: RecordLookup | undefined): RecordObservation =>
  createObservation(id, {
    look: lookup?.kind ?? null,
    record: lookup?.kind === 'there' ? withoutDisplayValues(lookup.record) : null,
    reclassified: (lookup?.kind === 'gone' && lookup.reclassified) || null,
  });

async function readDeletions(work: RunWork): Promise<void> {
  const { connector, mapping } = work;
  const { watermark } = resumePoint(work);
  if (watermark === null) return;
  for (const some of chunksOf(await connector.readDeletions(mapping.remote_table, watermark), CHUNK)) {
    const rows = some.map(({ id, at, mergedInto }) =>
      createObservation(id, { tombstone: { at, ...(mergedInto === undefined ? {} : { mergedInto }) } }),
    );
    await work.checkpoint({}, (sql) => storeObserved(sql, work.runId, rows));
  }
}

/** Reads by key the records with a tombstone and, after a full read, the missing ones. */
async function readUnconfirmedDeletions(work: RunWork): Promise<void> {
  const { db, runId, mappingId, complete } = work;
  const lists: IdPage[] = [unconfirmedDeletions(db, runId, mappingId)];
  if (complete) lists.push(missingRecords(db, runId, mappingId));
  for (const page of lists) {
    for (let after = ''; ; ) {
      const ids = await page(after, LOOKUP_BATCH);
      if (ids.length === 0) break;
      after = ids.at(-1)!;
      const rows = (await readByKey(work, ids)).map(([id, lookup]) => observedByKey(id, lookup));
      await work.checkpoint({}, (sql) => storeObserved(sql, runId, rows));
    }
  }
}

/** Observes changed cards, and deferred records that can be resolved now. */
async function readInventoryChanges(work: RunWork): Promise<void> {
  await readChangedCards(work);
  if (work.complete) return;
  const { runId, mappingId, mapping } = work;
  const targets = [...new Set([mappingId, ...Object.values(referencedMappings(mapping))])];
  await work.checkpoint({}, (sql) => observeDeferred(sql, { runId, mappingId, targets }));
}

/** Observes the pairs whose cards have changed since the last run. */
async function readChangedCards(work: RunWork): Promise<void> {
  const { db, cards, mappingId, mapping, complete } = work;
  const { localPosition } = resumePoint(work);
  if (complete || localPosition === null) return;
  for (let position = work.state.cursor ?? localPosition; ; ) {
    work.signal.throwIfAborted();
    const changed = await cards.changedAfter(db, position, CHUNK);
    const pairs = [...(await loadPairs(db, mappingId, { cardIds: changed.ids })).pairs.values()];
    const found = await cards.byIds(db, [...new Set(pairs.map(({ cardId }) => cardId))]);
    const changedPairs = pairs.filter((pair) => {
      const card = found.get(pair.cardId);
      const settled = card && !card.archived && card.inFilter && pair.state.kind === 'linked';
      return !settled || !isLocalEcho(mapping, pair, card);
    });
    position = changed.position;
    // the record of a restored card may exist again without being in the delta
    const restored = changedPairs.flatMap(({ remoteId, cardId, state }) =>
      state.kind === 'removed' && found.get(cardId)?.archived === false ? [remoteId] : [],
    );
    const lookups = new Map(await readByKey(work, restored));
    const rows = changedPairs.map(({ remoteId }) => observedByKey(remoteId, lookups.get(remoteId)));
    await work.checkpoint({ cursor: position }, (sql) => storeObserved(sql, work.runId, rows));
    if (!changed.more) return;
  }
}

/** Where a run starts to read; null: from the beginning. */
interface ResumePoint {
  watermark: string | null;
  localPosition: string | null;
  /**
   * Earlier reads have skipped records without a card, so the delta does not contain all of them, and no record may be created for
   * a card that could correspond to one of them.
   */
  hasSkippedUnpaired: boolean;
}

type Directed = Pick<RunInput, 'syncState' | 'mapping'>;

/** The direction of a run that covers only one direction of a bidirectional mapping; else null. */
const singleDirectionOf = ({
  mapping: { sync_direction: direction, mapping_direction },
}: Pick<Directed, 'mapping'>) => {
  return direction === mapping_direction || direction === 'bidirectional' ? null : direction;
};

/**
 * Where a run starts to read. A pull of a bidirectional mapping shares the watermark with bidirectional runs, because it plans all
 * that it has read; but not their feed position, because it pushes nothing. For a push it is the opposite.
 */
export function resumePoint(run: Directed): ResumePoint {
  const { syncState } = run;
  const singleDirection = singleDirectionOf(run);
  const { watermark, local_position: localPosition } = syncState;
  if (singleDirection === 'pull') {
    const pulled = syncState.pulled_position;
    return { watermark, localPosition: laterPosition(localPosition, pulled), hasSkippedUnpaired: false };
  }
  if (singleDirection === 'push' && isLastFullReadByPush(syncState))
    return { watermark: syncState.pushed_watermark, localPosition, hasSkippedUnpaired: true };
  return { watermark, localPosition, hasSkippedUnpaired: run.mapping.mapping_direction === 'push' };
}

const laterPosition = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? (left ?? right) : BigInt(left) > BigInt(right) ? left : right;

/** Where the next runs start to read. */
export type SyncProgress = Omit<SyncStateRow, 'again'>;

/** Makes the next run of each direction a full read. */
export const fullReadNext = { complete_read_at: null, pulled_read_at: null, pushed_read_at: null };

/** Where the next runs start to read after this one. A run in one direction does not advance the progress of the other. */
export function progressAfter(run: Directed & { state: RunState; complete: boolean }): SyncProgress {
  const { state, complete } = run;
  const { again: _, ...progress } = run.syncState;
  // with hidden columns nothing advances, so that their changes are read when they are visible again
  if (state.hidden.length === 0) {
    progress.delta_token = state.delta ?? null;
    const singleDirection = singleDirectionOf(run);
    // the remote's time when reading began, since later changes belong to the next read. A clock that is ahead may be corrected
    // before that and then report earlier times, so its lead does not count
    const began =
      state.aheadMs === null ? null : new Date(state.startedAt + Math.min(state.aheadMs, 0)).toISOString();
    const later = (previous: string | null, newest: string | null) => {
      const next = began ?? newest;
      return previous === null || (next !== null && next > previous) ? next : previous;
    };
    if (singleDirection === 'push')
      progress.pushed_watermark = later(progress.pushed_watermark, state.newest);
    else progress.watermark = later(progress.watermark, state.newest);
    // relations are stored for runs of either direction
    if (complete || !state.linksWithheld)
      progress.links_watermark = later(progress.links_watermark, state.newestLink);
    progress[singleDirection === 'pull' ? 'pulled_position' : 'local_position'] = state.localPosition;
    if (complete) {
      const readAt = { pull: 'pulled_read_at', push: 'pushed_read_at', both: 'complete_read_at' } as const;
      progress[readAt[singleDirection ?? 'both']] = new Date(state.startedAt).toISOString();
    }
  }
  // changes of hidden rows can only be detected by a full read
  return state.withheld ? { ...progress, ...fullReadNext } : progress;
}
