import { readPairs } from '../../../domain/exchange/itsm/book.read.ts';
import {
  doubtfulRecords,
  heard,
  heardOf,
  type IdPage,
  keepHeard,
  missingRecords,
} from '../../../domain/exchange/itsm/runs.heard.ts';
import type { HeardRecord, KeptRecord } from '../../../domain/exchange/itsm/runs.types.ts';
import { hearWaiting, waitingAmong } from '../../../domain/exchange/itsm/waiting.ts';
import type { RemoteLook } from '../connectors/connector.ts';
import { isLocalEcho, isRemoteEcho } from '../engine/fields.ts';
import { pairOf } from '../port/book.rows.ts';
import type { RemoteRecord } from '../remote.types.ts';
import { reachOf } from './run.reach.ts';
import { readAhead } from './run.read.ahead.ts';
import { lookAtEnds } from './run.read.ends.ts';
import { readRelations } from './run.read.links.ts';
import { phases, type RunWork } from './run.types.ts';

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
    else if (phase === 'looks') await lookAtDoubtful(work);
    else if (phase === 'local') await readHere(work);
    else if (phase === 'relations' || phase === 'relation_deletions') await readRelations(work, phase);
    else if (phase === 'ends') await lookAtEnds(work);
    else return;
    await work.keep({ phase: phases[at + 1]!, cursor: null });
  }
}

/** Columns that the mapping needs. */
const columnsOf = ({ loaded, connector: { correlationColumn } }: RunWork): string[] => [
  ...new Set([
    ...loaded.mapping.fields.map(({ remote }) => remote),
    // tells a record that was made twice
    ...(correlationColumn === undefined ? [] : [correlationColumn]),
  ]),
];

async function readRecords(work: RunWork): Promise<void> {
  const { connector, loaded, complete } = work;
  const request = {
    table: loaded.mapping.table,
    fields: columnsOf(work),
    ...(loaded.remoteFilter === null ? {} : { filter: loaded.remoteFilter }),
    limit: work.page,
    display: false,
  };
  const pages = readAhead(work, (cursor) =>
    complete
      ? connector.readPage({ ...request, cursor })
      : connector.readSince({ ...request, cursor, since: reachOf(work).watermark }),
  );
  for await (const page of pages) {
    const { heard, late } = await judgeable(work, page.records);
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
      (sql) => keepHeard(sql, work.runId, heard),
    );
  }
}

/** How much older than the last reading a change may be that it has not shown: zones differ by half an hour at least. */
const LATE_MS = 25 * 60_000;

/**
 * What of a page is to be kept: own writes and changes of what is not mapped are known already. And how many changes of paired
 * records it tells later than their time.
 */
async function judgeable(
  work: RunWork,
  records: readonly RemoteRecord[],
): Promise<{ heard: HeardRecord[]; late: number }> {
  const { db, runId, mappingId, loaded, complete, book } = work;
  const remoteIds = records.map(({ id }) => id);
  const before = await heardOf(db, runId, remoteIds);
  const pairs = new Map(
    (await readPairs(db, mappingId, { remoteIds })).map((row) => [row.remote_id, pairOf(row)]),
  );
  const open = new Set([...book.again, ...(await waitingAmong(db, mappingId, remoteIds))]);
  const { watermark } = reachOf(work);
  const lateBefore =
    complete || watermark === null ? Number.NEGATIVE_INFINITY : Date.parse(watermark) - LATE_MS;
  let late = 0;
  const rows = records.flatMap((record): HeardRecord[] => {
    const pair = pairs.get(record.id);
    const settled =
      pair?.state.kind === 'linked' &&
      pair.absences === 0 &&
      !record.deleted &&
      !open.has(record.id) &&
      !before.has(record.id);
    const known = settled && isRemoteEcho(loaded.mapping, pair, record);
    if (known && !complete) return [];
    const at = Date.parse(record.updatedAt);
    // zero: the remote does not tell when it was changed
    if (settled && !known && at > 0 && at < lateBefore) late += 1;
    return [heard(record.id, { record: known ? null : keptOf(record), shown: true })];
  });
  return { heard: rows, late };
}

const keptOf = (record: RemoteRecord): KeptRecord => ({
  ...record,
  fields: Object.fromEntries(Object.entries(record.fields).map(([name, { value }]) => [name, { value }])),
});

/** Looks at the records that earlier runs have left open. */
async function readAgain(work: RunWork): Promise<void> {
  const { complete, book } = work;
  if (complete) return;
  const { watermark } = reachOf(work);
  const ids = [...book.again].sort();
  for (let at = Number(work.state.cursor ?? 0); at < ids.length; at += LOOKS) {
    const asking = ids.slice(at, at + LOOKS);
    const known = await heardOf(work.db, work.runId, asking);
    const looks = await lookAt(
      work,
      asking.filter((id) => !known.has(id)),
    );
    const rows = looks.map(([id, look]) => {
      if (look.kind !== 'there') return heardIn(id, look);
      // what has not changed since the last reading fits the filter as it did then
      const fits = work.loaded.remoteFilter === null || look.record.updatedAt <= (watermark ?? '');
      return heard(id, {
        record: keptOf(look.record),
        shown: fits,
        look: fits ? null : 'there',
      });
    });
    await work.keep({ cursor: String(at + LOOKS) }, (sql) => keepHeard(sql, work.runId, rows));
  }
}

/** A look, with the class that a record has where it is in another table by now. */
type ClassedLook = RemoteLook | { kind: 'gone'; reclassified: string };

async function lookAt(work: RunWork, ids: string[]): Promise<[string, ClassedLook][]> {
  if (ids.length === 0) return [];
  work.signal.throwIfAborted();
  const { connector, loaded } = work;
  const looks = [...(await connector.readByIds(loaded.mapping.table, ids, columnsOf(work)))];
  const gone = looks.flatMap(([id, { kind }]) => (kind === 'gone' ? [id] : []));
  if (gone.length === 0 || !connector.reclassified) return looks;
  const classes = await connector.reclassified(gone);
  return looks.map(([id, look]): [string, ClassedLook] => {
    const reclassified = classes.get(id);
    return [id, look.kind === 'gone' && reclassified !== undefined ? { kind: 'gone', reclassified } : look];
  });
}

const heardIn = (id: string, look: ClassedLook | undefined): HeardRecord =>
  heard(id, {
    look: look?.kind ?? null,
    record: look?.kind === 'there' ? keptOf(look.record) : null,
    reclassified: look && 'reclassified' in look ? look.reclassified : null,
  });

async function readDeletions(work: RunWork): Promise<void> {
  const { connector, loaded } = work;
  const { watermark } = reachOf(work);
  if (watermark === null) return;
  const tombstones = await connector.deletionsSince(loaded.mapping.table, watermark);
  for (let at = 0; at < tombstones.length; at += CHUNK) {
    const rows = tombstones
      .slice(at, at + CHUNK)
      .map(({ id, at: moment, mergedInto }) =>
        heard(id, { tombstone: { at: moment, ...(mergedInto === undefined ? {} : { mergedInto }) } }),
      );
    await work.keep({}, (sql) => keepHeard(sql, work.runId, rows));
  }
}

/** Looks at what is missing, and at what was both shown and called deleted. */
async function lookAtDoubtful(work: RunWork): Promise<void> {
  const { db, runId, mappingId, complete } = work;
  const stretches: IdPage[] = [doubtfulRecords(db, runId, mappingId)];
  if (complete) stretches.push(missingRecords(db, runId, mappingId));
  for (const page of stretches) {
    for (let after = ''; ; ) {
      const ids = await page(after, LOOKS);
      if (ids.length === 0) break;
      after = ids.at(-1)!;
      const rows = (await lookAt(work, ids)).map(([id, look]) => heardIn(id, look));
      await work.keep({}, (sql) => keepHeard(sql, runId, rows));
    }
  }
}

/** Reads what has changed here, and hears of what waits for it. */
async function readHere(work: RunWork): Promise<void> {
  await readLocal(work);
  if (work.complete) return;
  const { runId, mappingId, loaded } = work;
  const targets = [...new Set([mappingId, ...Object.values(loaded.references)])];
  await work.keep({}, (sql) => hearWaiting(sql, { runId, mappingId, targets }));
}

/** Notes the pairs whose cards have changed here since the last run. */
async function readLocal(work: RunWork): Promise<void> {
  const { db, cards, mappingId, loaded, complete } = work;
  const { localPosition } = reachOf(work);
  if (complete || localPosition === null) return;
  for (let position = work.state.cursor ?? localPosition; ; ) {
    work.signal.throwIfAborted();
    const changed = await cards.changedAfter(db, position, CHUNK);
    const pairs = (await readPairs(db, mappingId, { cardIds: changed.ids })).map(pairOf);
    const found = await cards.byIds(db, [...new Set(pairs.map(({ cardId }) => cardId))]);
    const moved = pairs.filter((pair) => {
      const card = found.get(pair.cardId);
      const settled = card && !card.archived && card.inFilter && pair.state.kind === 'linked';
      return !settled || !isLocalEcho(loaded.mapping, pair, card);
    });
    position = changed.position;
    // a record that was gone with its card may be back without a change that a reading shows
    const restored = moved.flatMap(({ remoteId, cardId, state }) =>
      state.kind === 'removed' && found.get(cardId)?.archived === false ? [remoteId] : [],
    );
    const looks = new Map(await lookAt(work, restored));
    const rows = moved.map(({ remoteId }) => heardIn(remoteId, looks.get(remoteId)));
    await work.keep({ cursor: position }, (sql) => keepHeard(sql, work.runId, rows));
    if (!changed.more) return;
  }
}
