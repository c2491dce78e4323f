import { referencedMappings } from '../../../domain/exchange/itsm/mappings.load.ts';
import { inTransaction } from '../../../platform/database.ts';
import type { RemoteLook } from '../connectors/connector.ts';
import { isLocalEcho, isRemoteEcho } from '../engine/fields.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  deleteRemoteLinks,
  deleteUnreadLinks,
  knownRemoteLinks,
  storeRemoteLinks,
  unreportedTargets,
} from '../store/links.ts';
import {
  deferredAmong,
  doubtfulRecords,
  type IdPage,
  missingRecords,
  type ObservedRecord,
  observeDeferred,
  observed,
  observedAmong,
  storeObserved,
} from '../store/observed.ts';
import { loadPairs } from '../store/pairs.ts';
import { kindsOf } from './run.links.ts';
import { phases, type RunWork, resumePoint } from './run.state.ts';

/** Records of a chunk, and of a look. */
const CHUNK = 1_000;
const LOOKS = 500;

/**
 * Reads all that the run's plan is made from, page by page: each is stored with where the next one begins, so that a
 * process that was killed goes on there. Nothing of it stays in memory.
 */
export async function readForRun(work: RunWork): Promise<void> {
  for (let at = phases.indexOf(work.state.phase); phases[at] !== 'plan'; at += 1) {
    work.signal.throwIfAborted();
    const phase = phases[at]!;
    if (phase === 'records') await readRecords(work);
    else if (phase === 'again') await readAgain(work);
    else if (phase === 'deletions') await readDeletions(work);
    else if (phase === 'looks') await readDoubtfulRecords(work);
    else if (phase === 'local') await readInventoryChanges(work);
    else if (phase === 'relations' || phase === 'relation_deletions') await readRelations(work, phase);
    else if (phase === 'ends') await checkRelationEnds(work);
    else return;
    await work.keep({ phase: phases[at + 1]!, cursor: null });
  }
}

/** Columns that the mapping needs. */
const columnsOf = ({ mapping, connector: { correlationColumn } }: RunWork): string[] => [
  ...new Set([
    ...mapping.fields.map(({ remote_field: remote }) => remote),
    // tells a record that was made twice
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
    const { heard, late } = await changedRecordsOfPage(work, page.records);
    const { state } = work;
    await work.keep(
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
      (sql) => storeObserved(sql, work.runId, heard),
    );
  }
}

/** How much older than the last reading a change may be that it has not shown: zones differ by half an hour at least. */
const LATE_MS = 25 * 60_000;

/**
 * What of a page is to be kept: own writes and changes of what is not mapped are known already. And how many changes of paired
 * records it tells later than their time.
 */
async function changedRecordsOfPage(
  work: RunWork,
  records: readonly RemoteRecord[],
): Promise<{ heard: ObservedRecord[]; late: number }> {
  const { db, runId, mappingId, mapping, complete, syncState } = work;
  const remoteIds = records.map(({ id }) => id);
  const before = await observedAmong(db, runId, remoteIds);
  const { pairs } = await loadPairs(db, mappingId, { remoteIds });
  const open = new Set([...syncState.again, ...(await deferredAmong(db, mappingId, remoteIds))]);
  const { watermark } = resumePoint(work);
  const lateBefore =
    complete || watermark === null ? Number.NEGATIVE_INFINITY : Date.parse(watermark) - LATE_MS;
  let late = 0;
  const rows = records.flatMap((record): ObservedRecord[] => {
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
    // zero: the remote does not tell when it was changed
    if (settled && !known && at > 0 && at < lateBefore) late += 1;
    return [observed(record.id, { record: known ? null : withoutDisplayValues(record), shown: true })];
  });
  return { heard: rows, late };
}

const withoutDisplayValues = (record: RemoteRecord): RemoteRecord => ({
  ...record,
  fields: Object.fromEntries(Object.entries(record.fields).map(([name, { value }]) => [name, { value }])),
});

/** Looks at the records that earlier runs have left open. */
async function readAgain(work: RunWork): Promise<void> {
  const { complete, syncState } = work;
  if (complete) return;
  const { watermark } = resumePoint(work);
  const ids = [...syncState.again].sort();
  for (let at = Number(work.state.cursor ?? 0); at < ids.length; at += LOOKS) {
    const asking = ids.slice(at, at + LOOKS);
    const known = await observedAmong(work.db, work.runId, asking);
    const looks = await readByKey(
      work,
      asking.filter((id) => !known.has(id)),
    );
    const rows = looks.map(([id, look]) => {
      if (look.kind !== 'there') return observedByKey(id, look);
      // what has not changed since the last reading fits the filter as it did then
      const fits = work.mapping.filter_query === null || look.record.updatedAt <= (watermark ?? '');
      return observed(id, {
        record: withoutDisplayValues(look.record),
        shown: fits,
        look: fits ? null : 'there',
      });
    });
    await work.keep({ cursor: String(at + LOOKS) }, (sql) => storeObserved(sql, work.runId, rows));
  }
}

/** A look, with the class that a record has where it is in another table by now. */
type ClassedLook = RemoteLook | { kind: 'gone'; reclassified: string };

async function readByKey(work: RunWork, ids: string[]): Promise<[string, ClassedLook][]> {
  if (ids.length === 0) return [];
  work.signal.throwIfAborted();
  const { connector, mapping } = work;
  const looks = [...(await connector.readByIds(mapping.remote_table, ids, columnsOf(work)))];
  const gone = looks.flatMap(([id, { kind }]) => (kind === 'gone' ? [id] : []));
  if (gone.length === 0 || !connector.reclassified) return looks;
  const classes = await connector.reclassified(gone);
  return looks.map(([id, look]): [string, ClassedLook] => {
    const reclassified = classes.get(id);
    return [id, look.kind === 'gone' && reclassified !== undefined ? { kind: 'gone', reclassified } : look];
  });
}

const observedByKey = (id: string, look: ClassedLook | undefined): ObservedRecord =>
  observed(id, {
    look: look?.kind ?? null,
    record: look?.kind === 'there' ? withoutDisplayValues(look.record) : null,
    reclassified: look && 'reclassified' in look ? look.reclassified : null,
  });

async function readDeletions(work: RunWork): Promise<void> {
  const { connector, mapping } = work;
  const { watermark } = resumePoint(work);
  if (watermark === null) return;
  const tombstones = await connector.deletionsSince(mapping.remote_table, watermark);
  for (let at = 0; at < tombstones.length; at += CHUNK) {
    const rows = tombstones
      .slice(at, at + CHUNK)
      .map(({ id, at: moment, mergedInto }) =>
        observed(id, { tombstone: { at: moment, ...(mergedInto === undefined ? {} : { mergedInto }) } }),
      );
    await work.keep({}, (sql) => storeObserved(sql, work.runId, rows));
  }
}

/** Looks at what is missing, and at what was both shown and called deleted. */
async function readDoubtfulRecords(work: RunWork): Promise<void> {
  const { db, runId, mappingId, complete } = work;
  const stretches: IdPage[] = [doubtfulRecords(db, runId, mappingId)];
  if (complete) stretches.push(missingRecords(db, runId, mappingId));
  for (const page of stretches) {
    for (let after = ''; ; ) {
      const ids = await page(after, LOOKS);
      if (ids.length === 0) break;
      after = ids.at(-1)!;
      const rows = (await readByKey(work, ids)).map(([id, look]) => observedByKey(id, look));
      await work.keep({}, (sql) => storeObserved(sql, runId, rows));
    }
  }
}

/** Reads what has changed here, and hears of what waits for it. */
async function readInventoryChanges(work: RunWork): Promise<void> {
  await readLocal(work);
  if (work.complete) return;
  const { runId, mappingId, mapping } = work;
  const targets = [...new Set([mappingId, ...Object.values(referencedMappings(mapping))])];
  await work.keep({}, (sql) => observeDeferred(sql, { runId, mappingId, targets }));
}

/** Notes the pairs whose cards have changed here since the last run. */
async function readLocal(work: RunWork): Promise<void> {
  const { db, cards, mappingId, mapping, complete } = work;
  const { localPosition } = resumePoint(work);
  if (complete || localPosition === null) return;
  for (let position = work.state.cursor ?? localPosition; ; ) {
    work.signal.throwIfAborted();
    const changed = await cards.changedAfter(db, position, CHUNK);
    const pairs = [...(await loadPairs(db, mappingId, { cardIds: changed.ids })).pairs.values()];
    const found = await cards.byIds(db, [...new Set(pairs.map(({ cardId }) => cardId))]);
    const moved = pairs.filter((pair) => {
      const card = found.get(pair.cardId);
      const settled = card && !card.archived && card.inFilter && pair.state.kind === 'linked';
      return !settled || !isLocalEcho(mapping, pair, card);
    });
    position = changed.position;
    // a record that was gone with its card may be back without a change that a reading shows
    const restored = moved.flatMap(({ remoteId, cardId, state }) =>
      state.kind === 'removed' && found.get(cardId)?.archived === false ? [remoteId] : [],
    );
    const looks = new Map(await readByKey(work, restored));
    const rows = moved.map(({ remoteId }) => observedByKey(remoteId, looks.get(remoteId)));
    await work.keep({ cursor: position }, (sql) => storeObserved(sql, work.runId, rows));
    if (!changed.more) return;
  }
}

/**
 * Reads the relations of the mapped kinds. What has been told about them is kept beyond the run, so that a reading of
 * what has changed leaves them all known, also those whose ends get cards only later.
 */
async function readRelations(work: RunWork, phase: 'relations' | 'relation_deletions'): Promise<void> {
  const types = [...new Set(work.mapping.relations.map(({ remote_type: remoteType }) => remoteType))];
  if (types.length === 0) return;
  if (phase === 'relations') await readLinks(work, types);
  else await readGone(work);
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
    await work.keep(
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
    await work.keep({}, (sql) => deleteUnreadLinks(sql, mappingId, runId));
  }
}

async function readGone(work: RunWork): Promise<void> {
  const { connector, db, mappingId, syncState } = work;
  if (syncState.links_watermark === null) return;
  const told = await connector.relationDeletionsSince(syncState.links_watermark);
  const ids = await knownRemoteLinks(
    db,
    mappingId,
    told.map(({ id }) => id),
  );
  if (ids.length === 0) return;
  const there = connector.relationsThere ? await connector.relationsThere(ids) : new Set();
  const gone = ids.filter((id) => !there.has(id));
  await work.keep({}, (sql) => deleteRemoteLinks(sql, mappingId, gone));
}

/** Records of a look. */
const END_LOOKS = 100;

/**
 * Looks whether records of other mappings are still there to which relations lead that are known here and not told outside. A
 * remote takes relations away with a record and refuses new ones to it, and the run that reads the record may come after
 * this one.
 */
async function checkRelationEnds(work: RunWork): Promise<void> {
  const { db, connector, mapping, runId, signal } = work;
  const { sync_direction: direction, sync_mode: mode } = mapping;
  const concerns = {
    removals: direction !== 'push' && mode !== 'additive',
    additions: direction !== 'pull',
  };
  for (const kind of kindsOf(work)) {
    // its own records the run has read, and those of a mapping that does not run wait in any case
    const table = mapping.target_tables[kind.target_mapping_id];
    if (table === undefined) continue;
    const ids = await inTransaction(db, (sql) => unreportedTargets(sql, kind, concerns));
    for (let at = 0; at < ids.length; at += END_LOOKS) {
      signal.throwIfAborted();
      const looks = await connector.readByIds(table, ids.slice(at, at + END_LOOKS), []);
      const gone = [...looks].flatMap(([id, { kind: look }]) =>
        look === 'gone' ? [observed(id, { look })] : [],
      );
      await work.keep({}, (sql) => storeObserved(sql, runId, gone));
    }
  }
}

/**
 * The pages of a reading from where the run stands. While one is stored the next is already on its way; what it fails
 * with is thrown when its turn comes.
 */
async function* readAhead<P extends { next: string | null }>(
  { signal, state }: Pick<RunWork, 'signal' | 'state'>,
  ask: (cursor: string | null) => Promise<P>,
): AsyncGenerator<P> {
  signal.throwIfAborted();
  for (let coming = ask(state.cursor); ; ) {
    const page = await coming;
    signal.throwIfAborted();
    if (page.next !== null) {
      coming = ask(page.next);
      // a reading that is left before has nobody who waits for it
      coming.catch(() => {});
    }
    yield page;
    if (page.next === null) return;
  }
}
