import { RemoteError, type RemoteRecord, unless } from '../../remote.ts';
import type { DeltaRequest, Page, ReadRequest, RemoteLook } from '../connector.ts';
import { chunksOf } from '../responses.ts';
import { type Api, fieldsParameter, type Listed } from './api.ts';
import type { ChangeLog } from './changes.ts';
import { filterOf } from './filters.ts';
import { keyOf } from './ids.ts';
import { microsOf, type Row, recordOf, seenVersion, timeOf, valueAt } from './records.ts';

/** How long before the watermark a delta starts: the time of an update is set before the update is visible. */
const OVERLAP_MS = 60_000;
/** Ids of one query, for the length of the URL. */
const IDS_AT_ONCE = 50;
/** Objects that show whether a column still exists. */
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

export interface Reading {
  readPage(request: ReadRequest): Promise<Page>;
  readSince(request: DeltaRequest): Promise<Page>;
  readByIds(table: string, ids: string[], fields: string[]): Promise<Map<string, RemoteLook>>;
  newestChange(table: string, filter?: string): Promise<string | null>;
  withheldFields(table: string, fields: string[]): Promise<string[]>;
  /** One object with its version; null if it does not exist. */
  lookAt(table: string, key: number, fields: string[]): Promise<RemoteRecord | null>;
  /** When it was last changed, as NetBox writes it, and its version if it has one; null if it does not exist. */
  versionOf(table: string, key: number): Promise<{ changed: string; version: string | undefined } | null>;
}

const pageOf = (table: string, rows: Row[], fields: string[], next: Cursor | null): Page => ({
  records: rows.flatMap((row) => recordOf(table, row, fields) ?? []),
  next: next === null ? null : JSON.stringify(next),
  withheld: false,
});

const orderIgnored = (table: string) =>
  new RemoteError(
    'paging_ignored',
    `table ${table}`,
    `Reading ${table} makes no progress: the remote ignores the requested order`,
  );

/** Whether the rows are in ascending order of their ids, after one. */
function ascends(rows: Row[], from: number): boolean {
  let last = from;
  for (const { id } of rows) {
    if (typeof id !== 'number' || id <= last) return false;
    last = id;
  }
  return true;
}

const readOne = (api: Api, table: string, key: number, fields: string[]) =>
  unless(api.one(table, key, fields, `Looking at an object of ${table}`), ['not_found'], null);

export function createReading(api: Api, changes: ChangeLog): Reading {
  const list = async (
    { table, fields, filter, limit }: Pick<ReadRequest, 'table' | 'fields' | 'filter' | 'limit'>,
    conditions: Record<string, string>,
  ): Promise<Listed> => {
    const query = filterOf(table, filter);
    for (const [name, value] of Object.entries(conditions)) query.append(name, value);
    query.append('fields', fieldsParameter(fields));
    // NetBox renders it for each device, which is slow
    if (!fields.includes('config_context')) query.append('exclude', 'config_context');
    return unrepeated(await api.list(table, query, { limit, doing: `Reading ${table}` }));
  };

  const byKey = (
    request: ReadRequest,
    { key }: Cursor,
    conditions: Record<string, string> = {},
  ): Promise<Listed> =>
    // `start` avoids counting all rows
    conditions.last_updated === undefined && api.isAtLeast(4, 6)
      ? list(request, { start: String(key + 1) })
      : list(request, { ...conditions, id__gt: String(key), ordering: 'id' });

  const readTies = async (request: DeltaRequest, cursor: Cursor): Promise<Page> => {
    const { table, fields } = request;
    const { rows, more } = await byKey(request, cursor, { last_updated: timeOf(cursor.at!) });
    if (!ascends(rows, cursor.key)) throw orderIgnored(table);
    const last = rows.at(-1)?.id as number | undefined;
    const next: Cursor = more && last !== undefined ? { ...cursor, key: last } : { ...cursor, part: 'after' };
    return pageOf(table, rows, fields, next);
  };

  const lookAt: Reading['lookAt'] = async (table, key, fields) => {
    const response = await readOne(api, table, key, fields);
    if (!response) return null;
    const { result, headers } = response;
    const record = recordOf(table, result, fields, headers.etag ?? seenVersion((result ?? {}) as Row));
    if (record) return record;
    const what = `Looking at an object of ${table} showed none`;
    throw new RemoteError('unreadable_answer', `table ${table}`, what);
  };

  return {
    lookAt,
    async versionOf(table, key) {
      const response = await readOne(api, table, key, []);
      if (!response) return null;
      const { last_updated } = (response.result ?? {}) as Row;
      return { changed: String(last_updated), version: response.headers.etag };
    },
    async readPage(request) {
      const { table, fields } = request;
      const cursor = readCursor(request.cursor);
      const { rows, more } = await byKey(request, cursor);
      if (!ascends(rows, cursor.key)) throw orderIgnored(table);
      const last = rows.at(-1)?.id as number | undefined;
      return pageOf(table, rows, fields, more && last !== undefined ? { key: last } : null);
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
      const { rows, more } = await list(request, {
        ...(at === undefined ? {} : { [bound]: timeOf(at) }),
        ordering: 'last_updated,id',
      });
      let last: Cursor | undefined;
      for (const row of rows) {
        const next: Cursor = { key: row.id as number, at: microsOf(row.last_updated) ?? 0 };
        if (last && !isBeyond(next, last)) throw orderIgnored(table);
        if (at !== undefined && next.at! < at) throw orderIgnored(table);
        last = next;
      }
      // rows with the last time come again, before the new ones
      const fresh =
        cursor.at === undefined || cursor.part === 'after'
          ? rows
          : rows.filter((row) =>
              isBeyond({ key: row.id as number, at: microsOf(row.last_updated) ?? 0 }, cursor),
            );
      if (!more || !last) return pageOf(table, fresh, fields, null);
      const next: Cursor = fresh.length > 0 ? last : { key: cursor.key, at: cursor.at!, part: 'ties' };
      return pageOf(table, fresh, fields, next);
    },

    async readByIds(table, ids, fields) {
      const looks = new Map<string, RemoteLook>();
      const keys = new Map<number, string>();
      for (const id of new Set(ids)) {
        const key = keyOf(table, id);
        if (key === undefined) looks.set(id, { kind: 'unknown' });
        else keys.set(key, id);
      }
      const wanted = [...keys.keys()];
      for (const some of chunksOf(wanted, IDS_AT_ONCE)) {
        const found =
          wanted.length === 1
            ? [await lookAt(table, some[0]!, fields)]
            : await lookAtMany(api, table, some, fields);
        for (const record of found) if (record) looks.set(record.id, { kind: 'there', record });
      }
      const missing = wanted.filter((key) => !looks.has(keys.get(key)!));
      if (missing.length === 0) return looks;
      // NetBox answers the same for a hidden object as for a missing one: only the change log tells
      const deleted = await changes.deletedAmong(table, missing);
      for (const key of missing) looks.set(keys.get(key)!, { kind: deleted.has(key) ? 'gone' : 'unknown' });
      return looks;
    },

    async withheldFields(table, fields) {
      const { rows } = await list({ table, fields, limit: SAMPLE }, { ordering: 'id' });
      // permissions are on objects, not on columns: a column that no object shows no longer exists
      return rows.length === 0
        ? []
        : fields.filter((path) => rows.every((row) => valueAt(row, path) === undefined));
    },

    async newestChange(table, filter) {
      // rows without a time would come first
      const conditions = { last_updated__gte: timeOf(0), ordering: '-last_updated' };
      const { rows } = await list({ table, fields: [], limit: 1, filter }, conditions);
      const micros = microsOf(rows[0]?.last_updated);
      return micros === undefined ? null : new Date(Math.floor(micros / 1000)).toISOString();
    },
  };
}

/** Several objects at once, in as many requests as the remote takes. */
async function lookAtMany(
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
    const options = { limit: keys.length, doing: `Looking at objects of ${table}` };
    const { rows, more } = unrepeated(await api.list(table, query, options));
    const strange = rows.some(({ id }) => !keys.includes(id as number));
    if (strange || !ascends(rows, after)) throw orderIgnored(table);
    found.push(...rows.flatMap((row) => recordOf(table, row, fields, seenVersion(row)) ?? []));
    after = (rows.at(-1)?.id as number | undefined) ?? after;
    if (!more || rows.length === 0 || !keys.some((key) => key > after)) return found;
  }
}

const isBeyond = (to: Cursor, from: Cursor): boolean =>
  to.at === from.at ? to.key > from.key : to.at! > from.at!;

/** Rows that are repeated in a page count once. */
function unrepeated({ rows, more }: Listed): Listed {
  const seen = new Set<unknown>();
  return { more, rows: rows.filter(({ id }) => !seen.has(id) && seen.add(id)) };
}
