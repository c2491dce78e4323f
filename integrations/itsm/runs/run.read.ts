import { referencedMappings } from '../../../domain/exchange/itsm/mappings.load.ts';
import { inTransaction } from '../../../platform/database.ts';
import type { RemoteLook } from '../connectors/connector.ts';
import { isLocalEcho, isRemoteEcho } from '../engine/fields.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  deleteRemoteLinks,
  deleteUnreadLinks,
  findStoredLinks,
  findTargetsToCheck,
  storeRemoteLinks,
} from '../store/links.ts';
import {
  createObservation,
  findDeferred,
  findObserved,
  type IdPage,
  missingRecords,
  observeDeferred,
  type RecordObservation,
  storeObserved,
  unconfirmedDeletions,
} from '../store/observed.ts';
import { loadPairs } from '../store/pairs.ts';
import { linkTypesOf } from './run.links.ts';
import { phases, type RunWork, resumePoint } from './run.state.ts';

/** The number of records in a chunk, and in a lookup by key. */
const CHUNK = 1_000;
const LOOKUP_BATCH = 500;

/** Reads the input of the plan, page by page. Each page is stored with the cursor of the next, from which a run resumes. */
export async function readForRun(work: RunWork): Promise<void> {
  for (let at = phases.indexOf(work.state.phase); phases[at] !== 'plan'; at += 1) {
    work.signal.throwIfAborted();
    const phase = phases[at]!;
    if (phase === 'records') await readRecords(work);
    else if (phase === 'again') await readAgain(work);
    else if (phase === 'deletions') await readDeletions(work);
    else if (phase === 'looks') await readUnconfirmedDeletions(work);
    else if (phase === 'local') await readInventoryChanges(work);
    else if (phase === 'relations' || phase === 'relation_deletions') await readRelations(work, phase);
    else if (phase === 'ends') await checkRelationEnds(work);
    else return;
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
  const { connector, mapping, complete } = work;
  const request = {
    table: mapping.remote_table,
    fields: columnsOf(work),
    ...(mapping.filter_query === null ? {} : { filter: mapping.filter_query }),
    limit: work.page,
    display: false,
  };
  const pages = readAhead(work, (cursor) =>
    complete
      ? connector.readPage({ ...request, cursor })
      : connector.readSince({ ...request, cursor, since: resumePoint(work).watermark }),
  );
  for await (const page of pages) {
    const { changed, late } = await changedRecordsOfPage(work, page.records);
    const { state } = work;
    await work.checkpoint(
      {
        cursor: page.next,
        fetched: state.fetched + page.records.length,
        late: (state.late ?? 0) + late,
        withheld: state.withheld || page.withheld,
        aheadMs: connector.clockAheadMs() ?? state.aheadMs,
        newest: page.records.reduce<string | null>(
          (newest, { updatedAt }) => (newest === null || updatedAt > newest ? updatedAt : newest),
          state.newest,
        ),
      },
      (sql) => storeObserved(sql, work.runId, changed),
    );
  }
}

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
    return [
      createObservation(record.id, { record: known ? null : withoutDisplayValues(record), shown: true }),
    ];
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
    const lookups = await readByKey(
      work,
      batch.filter((id) => !known.has(id)),
    );
    const rows = lookups.map(([id, lookup]) => {
      if (lookup.kind !== 'there') return observedByKey(id, lookup);
      // an unchanged record still matches the filter
      const matches = work.mapping.filter_query === null || lookup.record.updatedAt <= (watermark ?? '');
      return createObservation(id, {
        record: withoutDisplayValues(lookup.record),
        shown: matches,
        look: matches ? null : 'there',
      });
    });
    await work.checkpoint({ cursor: String(at + LOOKUP_BATCH) }, (sql) =>
      storeObserved(sql, work.runId, rows),
    );
  }
}

/** A lookup by key, with the class of a record that is in another table now. */
type ClassifiedLookup = RemoteLook | { kind: 'gone'; reclassified: string };

async function readByKey(work: RunWork, ids: string[]): Promise<[string, ClassifiedLookup][]> {
  if (ids.length === 0) return [];
  work.signal.throwIfAborted();
  const { connector, mapping } = work;
  const lookups = [...(await connector.readByIds(mapping.remote_table, ids, columnsOf(work)))];
  const gone = lookups.flatMap(([id, { kind }]) => (kind === 'gone' ? [id] : []));
  if (gone.length === 0 || !connector.reclassified) return lookups;
  const classes = await connector.reclassified(gone);
  return lookups.map(([id, lookup]): [string, ClassifiedLookup] => {
    const reclassified = classes.get(id);
    return [
      id,
      lookup.kind === 'gone' && reclassified !== undefined ? { kind: 'gone', reclassified } : lookup,
    ];
  });
}

const observedByKey = (id: string, lookup: ClassifiedLookup | undefined): RecordObservation =>
  createObservation(id, {
    look: lookup?.kind ?? null,
    record: lookup?.kind === 'there' ? withoutDisplayValues(lookup.record) : null,
    reclassified: lookup && 'reclassified' in lookup ? lookup.reclassified : null,
  });

async function readDeletions(work: RunWork): Promise<void> {
  const { connector, mapping } = work;
  const { watermark } = resumePoint(work);
  if (watermark === null) return;
  const tombstones = await connector.deletionsSince(mapping.remote_table, watermark);
  for (let at = 0; at < tombstones.length; at += CHUNK) {
    const rows = tombstones
      .slice(at, at + CHUNK)
      .map(({ id, at, mergedInto }) =>
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

/**
 * Reads the relations of the mapped types. They are stored beyond the run, so that after a delta all relations are known, including
 * those whose ends get cards later.
 */
async function readRelations(work: RunWork, phase: 'relations' | 'relation_deletions'): Promise<void> {
  const types = [...new Set(work.mapping.relations.map(({ remote_type: remoteType }) => remoteType))];
  if (types.length === 0) return;
  if (phase === 'relations') await readLinks(work, types);
  else await readDeletedLinks(work);
}

async function readLinks(work: RunWork, types: string[]): Promise<void> {
  const { connector, mappingId, runId, complete, syncState } = work;
  const since = complete ? null : syncState.links_watermark;
  const pages = readAhead(work, (cursor) =>
    connector.readRelations({ types, since, limit: work.page, cursor }),
  );
  for await (const page of pages) {
    const { state } = work;
    const rows = page.relations.map(({ id, type, from, to }) => ({
      remote_relation_id: id,
      remote_type: type,
      from_id: from,
      to_id: to,
    }));
    await work.checkpoint(
      {
        cursor: page.next,
        relations: state.relations + rows.length,
        linksWithheld: state.linksWithheld || page.withheld,
        newestLink: page.relations.reduce<string | null>(
          (newest, { updatedAt }) => (newest === null || updatedAt > newest ? updatedAt : newest),
          state.newestLink,
        ),
      },
      (sql) => storeRemoteLinks(sql, mappingId, runId, rows),
    );
  }
  if (since === null && !work.state.linksWithheld) {
    await work.checkpoint({}, (sql) => deleteUnreadLinks(sql, mappingId, runId));
  }
}

async function readDeletedLinks(work: RunWork): Promise<void> {
  const { connector, db, mappingId, syncState } = work;
  if (syncState.links_watermark === null) return;
  const deletions = await connector.relationDeletionsSince(syncState.links_watermark);
  const ids = await findStoredLinks(
    db,
    mappingId,
    deletions.map(({ id }) => id),
  );
  if (ids.length === 0) return;
  const existing = connector.relationsThere ? await connector.relationsThere(ids) : new Set();
  const gone = ids.filter((id) => !existing.has(id));
  await work.checkpoint({}, (sql) => deleteRemoteLinks(sql, mappingId, gone));
}

/** The number of records in a lookup of relation ends. */
const END_LOOKUP_BATCH = 100;

/**
 * Checks by key whether the target records of relations that only the inventory has still exist, if they belong to other mappings.
 * A remote removes relations together with a record and refuses new ones to it, and the run that reads that record may be later
 * than this one.
 */
async function checkRelationEnds(work: RunWork): Promise<void> {
  const { db, connector, mapping, runId, signal } = work;
  const { sync_direction: direction, sync_mode: mode } = mapping;
  const wanted = {
    removals: direction !== 'push' && mode !== 'additive',
    additions: direction !== 'pull',
  };
  for (const linkType of linkTypesOf(work)) {
    // this run has read the records of its own mapping; relations to a mapping that cannot run are deferred in any case
    const table = mapping.target_tables[linkType.target_mapping_id];
    if (table === undefined) continue;
    const ids = await inTransaction(db, (sql) => findTargetsToCheck(sql, linkType, wanted));
    for (let at = 0; at < ids.length; at += END_LOOKUP_BATCH) {
      signal.throwIfAborted();
      const lookups = await connector.readByIds(table, ids.slice(at, at + END_LOOKUP_BATCH), []);
      const gone = [...lookups].flatMap(([id, { kind: look }]) =>
        look === 'gone' ? [createObservation(id, { look })] : [],
      );
      await work.checkpoint({}, (sql) => storeObserved(sql, runId, gone));
    }
  }
}

/** Reads pages from the checkpoint's cursor on, and requests the next page while one is processed. */
async function* readAhead<P extends { next: string | null }>(
  { signal, state }: Pick<RunWork, 'signal' | 'state'>,
  readPage: (cursor: string | null) => Promise<P>,
): AsyncGenerator<P> {
  signal.throwIfAborted();
  for (let pending = readPage(state.cursor); ; ) {
    const page = await pending;
    signal.throwIfAborted();
    if (page.next !== null) {
      pending = readPage(page.next);
      // avoids an unhandled rejection if the caller stops before the next page
      pending.catch(() => {});
    }
    yield page;
    if (page.next === null) return;
  }
}
