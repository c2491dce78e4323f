import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { DeltaRequest, Page, ReadRequest, RemoteLook } from '../connector.ts';
import { type Api, columnsOf, type Listed } from './api.ts';
import type { ChangeLog } from './changes.ts';
import { filterOf } from './filters.ts';
import { keyOf } from './ids.ts';
import { microsOf, momentOf, type Row, recordOf, seenVersion, valueAt } from './records.ts';

/** How much before the watermark a reading of changes begins: the time of an update is set before it is visible. */
const OVERLAP_MS = 60_000;
/** Ids of one look, for the length of an address. */
const LOOKS = 50;
/** Objects that are looked at for columns that are no longer shown. */
const SAMPLE = 50;

/** Where a reading goes on; its text is nobody else's business. */
interface Cursor {
  key: number;
  /** In microseconds, of the last row read, when the order is that of change. */
  at?: number;
  /** `ties`: among the rows of that very moment, by key; `after`: behind all of them. */
  part?: 'ties' | 'after';
}

const readCursor = (text: string | null): Cursor =>
  text === null ? { key: 0 } : (JSON.parse(text) as Cursor);

export interface Reading {
  readPage(request: ReadRequest): Promise<Result<Page>>;
  readSince(request: DeltaRequest): Promise<Result<Page>>;
  readByIds(table: string, ids: string[], fields: string[]): Promise<Result<Map<string, RemoteLook>>>;
  newestChange(table: string, filter?: string): Promise<Result<string | null>>;
  withheldFields(table: string, fields: string[]): Promise<Result<string[]>>;
  /** One object as it is now, with its version; null when it is not there. */
  lookAt(table: string, key: number, fields: string[]): Promise<Result<RemoteRecord | null>>;
  /** When it was last changed as NetBox tells it, and its version where it has one; null when it is not there. */
  standOf(
    table: string,
    key: number,
  ): Promise<Result<{ changed: string; version: string | undefined } | null>>;
}

export function createReading(api: Api, changes: ChangeLog): Reading {
  const list = async (
    { table, fields, filter, limit }: Pick<ReadRequest, 'table' | 'fields' | 'filter' | 'limit'>,
    conditions: Record<string, string>,
  ): Promise<Result<Listed>> => {
    const given = filterOf(table, filter);
    if (!given.ok) return given;
    return api.list(
      table,
      (pageSize) => {
        const query = new URLSearchParams(given.value);
        for (const [name, value] of Object.entries({ ...conditions, limit: String(pageSize) }))
          query.append(name, value);
        query.append('fields', columnsOf(fields).join(','));
        // rendering it for each device takes long
        if (!fields.includes('config_context')) query.append('exclude', 'config_context');
        return query;
      },
      limit,
      `Reading ${table}`,
    );
  };

  const pageOf = (table: string, rows: Row[], fields: string[], next: Cursor | null): Page => ({
    records: rows.flatMap((row) => recordOf(table, row, fields) ?? []),
    next: next === null ? null : JSON.stringify(next),
    withheld: false,
  });

  const byKey = (
    request: ReadRequest,
    { key }: Cursor,
    conditions: Record<string, string> = {},
  ): Promise<Result<Listed>> =>
    // `start` saves the counting of all rows
    conditions.last_updated === undefined && api.isAtLeast(4, 6)
      ? list(request, { start: String(key + 1) })
      : list(request, { ...conditions, id__gt: String(key), ordering: 'id' });

  const looseOrder = (table: string) =>
    failed('paging_ignored', `table ${table}`, `Reading ${table} does not get on: its order is not heeded`);

  const ascends = (rows: Row[], from: number): boolean => {
    let last = from;
    for (const { id } of rows) {
      if (typeof id !== 'number' || id <= last) return false;
      last = id;
    }
    return true;
  };

  const readTies = async (request: DeltaRequest, cursor: Cursor): Promise<Result<Page>> => {
    const { table, fields } = request;
    const listed = await byKey(request, cursor, { last_updated: momentOf(cursor.at!) });
    if (!listed.ok) return listed;
    const { rows, more } = unrepeated(listed.value);
    if (!ascends(rows, cursor.key)) return looseOrder(table);
    const last = rows.at(-1)?.id as number | undefined;
    const next: Cursor = more && last !== undefined ? { ...cursor, key: last } : { ...cursor, part: 'after' };
    return done(pageOf(table, rows, fields, next));
  };

  const lookAt: Reading['lookAt'] = async (table, key, fields) => {
    const answer = await api.one(table, key, fields, `Looking at an object of ${table}`);
    if (!answer.ok) return answer.failure.code === 'not_found' ? done(null) : answer;
    const { result, headers } = answer.value;
    const record = recordOf(table, result, fields, headers.etag ?? seenVersion((result ?? {}) as Row));
    return record
      ? done(record)
      : failed('unreadable_answer', `table ${table}`, `Looking at an object of ${table} showed none`);
  };

  return {
    lookAt,
    async standOf(table, key) {
      const answer = await api.one(table, key, [], `Looking at an object of ${table}`);
      if (!answer.ok) return answer.failure.code === 'not_found' ? done(null) : answer;
      const { result, headers } = answer.value;
      const { last_updated } = (result ?? {}) as Row;
      return done({ changed: String(last_updated), version: headers.etag });
    },
    async readPage(request) {
      const { table, fields } = request;
      const cursor = readCursor(request.cursor);
      const listed = await byKey(request, cursor);
      if (!listed.ok) return listed;
      const { rows, more } = unrepeated(listed.value);
      if (!ascends(rows, cursor.key)) return looseOrder(table);
      const last = rows.at(-1)?.id as number | undefined;
      return done(pageOf(table, rows, fields, more && last !== undefined ? { key: last } : null));
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
      const listed = await list(request, {
        ...(at === undefined ? {} : { [bound]: momentOf(at) }),
        ordering: 'last_updated,id',
      });
      if (!listed.ok) return listed;
      const { rows, more } = unrepeated(listed.value);
      let last: Cursor | undefined;
      for (const row of rows) {
        const next: Cursor = { key: row.id as number, at: microsOf(row.last_updated) ?? 0 };
        if (last && !isBeyond(next, last)) return looseOrder(table);
        if (at !== undefined && next.at! < at) return looseOrder(table);
        last = next;
      }
      // those of the last moment come again, before the new ones
      const fresh =
        cursor.at === undefined || cursor.part === 'after'
          ? rows
          : rows.filter((row) =>
              isBeyond({ key: row.id as number, at: microsOf(row.last_updated) ?? 0 }, cursor),
            );
      if (!more || !last) return done(pageOf(table, fresh, fields, null));
      const next: Cursor = fresh.length > 0 ? last : { key: cursor.key, at: cursor.at!, part: 'ties' };
      return done(pageOf(table, fresh, fields, next));
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
      if (wanted.length === 1) {
        const looked = await lookAt(table, wanted[0]!, fields);
        if (!looked.ok) return looked;
        if (looked.value) looks.set(looked.value.id, { kind: 'there', record: looked.value });
      } else {
        for (let from = 0; from < wanted.length; from += LOOKS) {
          const some = wanted.slice(from, from + LOOKS);
          const looked = await lookAtMany(table, some, fields);
          if (!looked.ok) return looked;
          for (const record of looked.value) looks.set(record.id, { kind: 'there', record });
        }
      }
      const missing = wanted.filter((key) => !looks.has(keys.get(key)!));
      if (missing.length === 0) return done(looks);
      // an object that permissions hide is answered as one that is not there: only the change log tells
      const deleted = await changes.deletedAmong(table, missing);
      if (!deleted.ok) return deleted;
      for (const key of missing)
        looks.set(keys.get(key)!, { kind: deleted.value.has(key) ? 'gone' : 'unknown' });
      return done(looks);
    },

    async withheldFields(table, fields) {
      const listed = await list({ table, fields, limit: SAMPLE }, { ordering: 'id' });
      if (!listed.ok) return listed;
      const { rows } = listed.value;
      // permissions are on objects, never on single columns: one that no object shows is no column any more
      return done(
        rows.length === 0
          ? []
          : fields.filter((path) => rows.every((row) => valueAt(row, path) === undefined)),
      );
    },

    async newestChange(table, filter) {
      const request = { table, fields: [], limit: 1, ...(filter === undefined ? {} : { filter }) };
      // rows without a time would come first
      const listed = await list(request, { last_updated__gte: momentOf(0), ordering: '-last_updated' });
      if (!listed.ok) return listed;
      const micros = microsOf(listed.value.rows[0]?.last_updated);
      return done(micros === undefined ? null : new Date(Math.floor(micros / 1000)).toISOString());
    },
  };

  async function lookAtMany(
    table: string,
    keys: number[],
    fields: string[],
  ): Promise<Result<RemoteRecord[]>> {
    const found: RemoteRecord[] = [];
    for (let after = 0; ; ) {
      const listed = await api.list(
        table,
        (pageSize) =>
          new URLSearchParams([
            ...keys.filter((key) => key > after).map((key): [string, string] => ['id', String(key)]),
            ['ordering', 'id'],
            ['limit', String(pageSize)],
            ['fields', columnsOf(fields).join(',')],
          ]),
        keys.length,
        `Looking at objects of ${table}`,
      );
      if (!listed.ok) return listed;
      const { rows, more } = unrepeated(listed.value);
      const strange = rows.some(({ id }) => !keys.includes(id as number));
      if (strange || !ascends(rows, after)) return looseOrder(table);
      found.push(...rows.flatMap((row) => recordOf(table, row, fields, seenVersion(row)) ?? []));
      after = (rows.at(-1)?.id as number | undefined) ?? after;
      if (!more || rows.length === 0 || !keys.some((key) => key > after)) return done(found);
    }
  }
}

const isBeyond = (to: Cursor, from: Cursor): boolean =>
  to.at === from.at ? to.key > from.key : to.at! > from.at!;

/** A row that comes twice in a page counts once. */
function unrepeated({ rows, more }: Listed): Listed {
  const seen = new Set<unknown>();
  return { more, rows: rows.filter(({ id }) => !seen.has(id) && seen.add(id)) };
}
