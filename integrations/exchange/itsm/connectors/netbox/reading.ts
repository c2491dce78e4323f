import { chunksOf } from '../../../../../platform/chunks.ts';
import { type RecordLookup, RemoteError, type RemoteRecord, withFallback } from '../../remote.ts';
import type { Connector, DeltaRequest, Page, ReadRequest } from '../connector.ts';
import { absentColumns } from '../responses.ts';
import { type Api, fieldsParameter, type ListPage } from './api.ts';
import type { ChangeLog } from './changes.ts';
import { filterOf, keyOf, microsOf, type Row, recordOf, timeOf, valueAt, versionByTime } from './records.ts';

/** How long before the watermark a delta starts: the time of an update is set before the update is visible. */
const OVERLAP_MS = 60_000;
/** Maximum ids of one query, for the length of the URL. */
const IDS_PER_REQUEST = 50;
/** Number of objects from which it is derived whether a column exists. */
const SAMPLE = 50;

/** Where the next page starts. */
interface Cursor {
  key: number;
  /** The last row's time of update in microseconds, in the order of updates. */
  at?: number;
  /** `ties`: among the rows with that time, by key; `after`: after all of them. */
  part?: 'ties' | 'after';
}

const readCursor = (text: string | null): Cursor =>
  text === null ? { key: 0 } : (JSON.parse(text) as Cursor);

export interface Reading
  extends Pick<Connector, 'readPage' | 'readSince' | 'readByIds' | 'findHiddenColumns'> {
  /** One object with its version; null if it does not exist. */
  readObject(table: string, key: number, fields: string[]): Promise<RemoteRecord | null>;
  /** When it was last changed, as NetBox writes it, and its version if it has one; null if it does not exist. */
  versionOf(table: string, key: number): Promise<{ changed: string; version: string | undefined } | null>;
}

const pageOf = (table: string, rows: Row[], fields: string[], next: Cursor | null): Page => ({
  records: rows.flatMap((row) => recordOf(table, row, fields) ?? []),
  next: next === null ? null : JSON.stringify(next),
  hasHiddenRows: false,
});

const orderIgnoredError = (table: string) =>
  new RemoteError(
    'paging_ignored',
    `table ${table}`,
    `Reading ${table} makes no progress: the remote ignores the requested order`,
  );

/** Whether the rows are in ascending order of their ids, after one. */
function isAscending(rows: Row[], from: number): boolean {
  let last = from;
  for (const { id } of rows) {
    if (typeof id !== 'number' || id <= last) return false;
    last = id;
  }
  return true;
}

const readOne = (api: Api, table: string, key: number, fields: string[]) =>
  withFallback(api.one(table, key, fields, `Looking up an object of ${table}`), ['not_found'], null);

export function createReading(api: Api, changes: ChangeLog): Reading {
  const list = async (
    { table, fields, filter, limit }: Pick<ReadRequest, 'table' | 'fields' | 'filter' | 'limit'>,
    conditions: Record<string, string>,
  ): Promise<ListPage> => {
    const query = filterOf(table, filter);
    for (const [name, value] of Object.entries(conditions)) query.append(name, value);
    query.append('fields', fieldsParameter(fields));
    // NetBox renders it for each device, which is slow
    if (!fields.includes('config_context')) query.append('exclude', 'config_context');
    return withoutRepeatedRows(await api.list(table, query, { limit, doing: `Reading ${table}` }));
  };

  const byKey = (
    request: ReadRequest,
    { key }: Cursor,
    conditions: Record<string, string> = {},
  ): Promise<ListPage> =>
    // `start` avoids counting all rows
    conditions.last_updated === undefined && api.isAtLeast(4, 6)
      ? list(request, { start: String(key + 1) })
      : list(request, { ...conditions, id__gt: String(key), ordering: 'id' });

  const readTies = async (request: DeltaRequest, cursor: Cursor): Promise<Page> => {
    const { table, fields } = request;
    const { rows, hasMore } = await byKey(request, cursor, { last_updated: timeOf(cursor.at!) });
    if (!isAscending(rows, cursor.key)) throw orderIgnoredError(table);
    const last = rows.at(-1)?.id as number | undefined;
    const next: Cursor =
      hasMore && last !== undefined ? { ...cursor, key: last } : { ...cursor, part: 'after' };
    return pageOf(table, rows, fields, next);
  };

  const lookAt: Reading['readObject'] = async (table, key, fields) => {
    const response = await readOne(api, table, key, fields);
    if (!response) return null;
    const { result, headers } = response;
    const record = recordOf(table, result, fields, headers.etag ?? versionByTime((result ?? {}) as Row));
    if (record) return record;
    const what = `Looking up an object of ${table} returned none`;
    throw new RemoteError('unreadable_response', `table ${table}`, what);
  };

  return {
    readObject: lookAt,
    async versionOf(table, key) {
      const response = await readOne(api, table, key, []);
      if (!response) return null;
      const { last_updated } = (response.result ?? {}) as Row;
      return { changed: String(last_updated), version: response.headers.etag };
    },
    async readPage(request) {
      const { table, fields } = request;
      const cursor = readCursor(request.cursor);
      const { rows, hasMore } = await byKey(request, cursor);
      if (!isAscending(rows, cursor.key)) throw orderIgnoredError(table);
      const last = rows.at(-1)?.id as number | undefined;
      return pageOf(table, rows, fields, hasMore && last !== undefined ? { key: last } : null);
    },

    async readSince(request) {
      const { table, fields } = request;
      const cursor = readCursor(request.cursor);
      if (cursor.part === 'ties') return readTies(request, cursor);
      const from =
        request.since === null
          ? undefined
          : (Date.parse(request.since) - (request.overlapMs ?? OVERLAP_MS)) * 1000;
      const at = cursor.at ?? from;
      const bound = cursor.part === 'after' ? 'last_updated__gt' : 'last_updated__gte';
      const { rows, hasMore } = await list(request, {
        ...(at === undefined ? {} : { [bound]: timeOf(at) }),
        ordering: 'last_updated,id',
      });
      let last: Cursor | undefined;
      for (const row of rows) {
        const next: Cursor = { key: row.id as number, at: microsOf(row.last_updated) ?? 0 };
        if (last && !isBeyond(next, last)) throw orderIgnoredError(table);
        if (at !== undefined && next.at! < at) throw orderIgnoredError(table);
        last = next;
      }
      // rows with the last time are returned again, before the new ones
      const fresh =
        cursor.at === undefined || cursor.part === 'after'
          ? rows
          : rows.filter((row) =>
              isBeyond({ key: row.id as number, at: microsOf(row.last_updated) ?? 0 }, cursor),
            );
      if (!hasMore || !last) return pageOf(table, fresh, fields, null);
      const next: Cursor = fresh.length > 0 ? last : { key: cursor.key, at: cursor.at!, part: 'ties' };
      return pageOf(table, fresh, fields, next);
    },

    async readByIds(table, ids, fields) {
      const lookups = new Map<string, RecordLookup>();
      const keys = new Map<number, string>();
      for (const id of new Set(ids)) {
        const key = keyOf(table, id);
        if (key === undefined) lookups.set(id, { kind: 'unknown' });
        else keys.set(key, id);
      }
      const wanted = [...keys.keys()];
      for (const some of chunksOf(wanted, IDS_PER_REQUEST)) {
        const found =
          wanted.length === 1
            ? [await lookAt(table, some[0]!, fields)]
            : await readObjects(api, table, some, fields);
        for (const record of found) if (record) lookups.set(record.id, { kind: 'there', record });
      }
      const missing = wanted.filter((key) => !lookups.has(keys.get(key)!));
      if (missing.length === 0) return lookups;
      // NetBox does not distinguish hidden and missing objects: only the change log proves a deletion
      const deleted = await changes.deletedAmong(table, missing);
      for (const key of missing) lookups.set(keys.get(key)!, { kind: deleted.has(key) ? 'gone' : 'unknown' });
      return lookups;
    },

    async findHiddenColumns(table, fields) {
      const { rows } = await list({ table, fields, limit: SAMPLE }, { ordering: 'id' });
      // permissions apply to objects, not to columns: a column that no object has no longer exists
      return absentColumns(rows, fields, valueAt);
    },
  };
}

/** Reads several objects by key, in as few requests as possible. */
async function readObjects(
  api: Api,
  table: string,
  keys: number[],
  fields: string[],
): Promise<RemoteRecord[]> {
  const found: RemoteRecord[] = [];
  for (let after = 0; ; ) {
    const conditions = keys.filter((key) => key > after).map((key): [string, string] => ['id', String(key)]);
    const query = new URLSearchParams([
      ...conditions,
      ['ordering', 'id'],
      ['fields', fieldsParameter(fields)],
    ]);
    const options = { limit: keys.length, doing: `Looking up objects of ${table}` };
    const { rows, hasMore } = withoutRepeatedRows(await api.list(table, query, options));
    const hasUnrequested = rows.some(({ id }) => !keys.includes(id as number));
    if (hasUnrequested || !isAscending(rows, after)) throw orderIgnoredError(table);
    found.push(...rows.flatMap((row) => recordOf(table, row, fields, versionByTime(row)) ?? []));
    after = (rows.at(-1)?.id as number | undefined) ?? after;
    if (!hasMore || rows.length === 0 || !keys.some((key) => key > after)) return found;
  }
}

const isBeyond = (to: Cursor, from: Cursor): boolean =>
  to.at === from.at ? to.key > from.key : to.at! > from.at!;

/** Removes repeated rows of a page. */
function withoutRepeatedRows({ rows, hasMore }: ListPage): ListPage {
  const seen = new Set<unknown>();
  return { hasMore, rows: rows.filter(({ id }) => !seen.has(id) && seen.add(id)) };
}
