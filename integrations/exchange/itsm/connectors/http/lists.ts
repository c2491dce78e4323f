import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import {
  isRemoteError,
  RemoteError,
  type RemoteErrorCode,
  type RemoteRecord,
  type RemoteTombstone,
} from '../../remote.ts';
import type { Page } from '../connector.ts';
import type { Fetch, FetchOptions } from './fetching.ts';
import {
  deltaTokenOf,
  optionsOfDelta,
  optionsOfPage,
  type PagedSource,
  placeAfter,
  placeOf,
} from './paging.ts';
import { createRowFilter, idOf, type Row, recordOf, valueAt } from './records.ts';

/** HTTP dates have a precision of one second: a second write within it would not be detected. */
const HTTP_DATE_PRECISION_MS = 2_000;

/** A file as it was last fetched. */
export interface Snapshot {
  at: string;
  etag: string | undefined;
  lastModified: string | undefined;
  /** In the order of keys. */
  rows: { key: string; row: Row }[];
  /** The names in the header of a file that has one. */
  header: readonly string[] | undefined;
}

export interface PageRequest {
  fields: string[];
  filter?: string | undefined;
  limit: number;
  cursor: string | null;
  /** Rows with an earlier time of change are omitted; milliseconds. */
  from?: number | undefined;
  /** Where a delta starts. */
  token?: string | null | undefined;
}

/** Sources whose rows are all in one response; fetched again only if they have changed. */
export interface Files {
  /** @param since milliseconds. @returns null if the file has not changed since. */
  snapshot(source: HttpSource, since?: number): Promise<Snapshot | null>;
  page(source: HttpSource, request: PageRequest): Promise<Page>;
}

export function createFiles(fetch: Fetch): Files {
  const known = new Map<string, Snapshot>();

  const snapshot: Files['snapshot'] = async (source, since) => {
    const before = known.get(source.name);
    const fetched = await fetch(source, { headers: conditions(before, since) });
    if (fetched === null) {
      if (before || since !== undefined) return before ?? null;
      throw noRowsError(source);
    }
    const { at, etag, lastModified, rows, header } = fetched;
    const sorted = [...rows].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const twice = sorted.find(({ key }, index) => sorted[index + 1]?.key === key);
    if (twice) throw sourceError('ambiguous', source, `has two rows with the key ${twice.key}`);
    const fresh = { at, etag, lastModified, rows: sorted, header };
    known.set(source.name, fresh);
    return fresh;
  };

  return {
    snapshot,
    async page(source, { fields, filter, limit, cursor, from }) {
      // all pages are of the same file, unless another process read the first one
      const cached = cursor === null ? undefined : known.get(source.name);
      const current = cached ?? (await snapshot(source, cursor === null ? from : undefined));
      if (current === null) return { records: [], next: null, hasHiddenRows: false };
      const { at, rows } = current;
      requireColumns(source, current, fields);
      const isWanted = createRowFilter(filter);
      const records: RemoteRecord[] = [];
      let last: string | undefined;
      for (const { key, row } of rows) {
        if (cursor !== null && key <= cursor) continue;
        if (records.length === limit) return { records, next: last!, hasHiddenRows: false };
        if (!isWanted(row)) continue;
        const record = recordOf(source, key, row, fields, at);
        if (from !== undefined && Date.parse(record.updatedAt) < from && source.updated !== undefined)
          continue;
        records.push(record);
        last = key;
      }
      return { records, next: null, hasHiddenRows: false };
    },
  };
}

/** Requires that the header of a file has these columns: otherwise their values would count as empty. @throws RemoteError */
export function requireColumns(
  source: HttpSource,
  { header }: Pick<Snapshot, 'header'>,
  fields: readonly string[],
): void {
  const lost = header && fields.find((name) => !header.includes(name));
  if (lost !== undefined) throw sourceError('bad_rows', source, `has no column ${lost} any more`);
}

const sourceError = (code: RemoteErrorCode, { name }: HttpSource, what: string): RemoteError =>
  new RemoteError(code, `source ${name}`, `${name} ${what}`);

const noRowsError = (source: HttpSource): RemoteError =>
  sourceError('unreadable_response', source, 'returned no rows');

/** Headers for a conditional request. */
function conditions(
  before: Snapshot | undefined,
  since: number | undefined,
): NonNullable<FetchOptions['headers']> {
  if (before?.etag !== undefined) return { 'if-none-match': before.etag };
  if (before?.lastModified !== undefined) return { 'if-modified-since': before.lastModified };
  if (before || since === undefined) return {};
  return { 'if-modified-since': new Date(since - HTTP_DATE_PRECISION_MS).toUTCString() };
}

/** One page of a list as its server returns it. */
export async function readList(fetch: Fetch, source: PagedSource, request: PageRequest): Promise<Page> {
  const { fields, filter, limit, token = null } = request;
  const { paging, delta } = source;
  const from = token === null ? request.from : undefined;
  const place = request.cursor === null ? null : placeOf(request.cursor);
  const options =
    place === null && token !== null
      ? optionsOfDelta(source, token)
      : optionsOfPage(paging, place?.cursor ?? null, from);
  const fetched = await fetch(source, { limit, ...options }).catch((error: unknown) => {
    // Microsoft Graph answers 400 for an expired token of its directory
    if (token === null || !isRemoteError(error) || ![400, 410].includes(error.status ?? 0)) throw error;
    throw sourceError('resync_needed', source, 'does not know the delta token any more');
  });
  // the request was not conditional
  if (fetched === null) throw noRowsError(source);
  const { rows, at } = fetched;
  const next = placeAfter(source, fetched, place);
  const isWanted = createRowFilter(filter);
  const records = new Map<string, RemoteRecord>();
  const removed = new Map<string, RemoteTombstone>();
  for (const { key, row } of rows) {
    // of a row that is repeated the last one counts
    records.delete(key);
    removed.delete(key);
    if (delta && isRemoved(delta, row)) {
      removed.set(key, { table: source.name, id: idOf(source.name, key), at });
      continue;
    }
    if (!isWanted(row)) continue;
    const record = recordOf(source, key, row, fields, at);
    const isOld = source.updated !== undefined && from !== undefined && Date.parse(record.updatedAt) < from;
    if (!isOld) records.set(key, record);
  }
  const hasHiddenRows = paging.by !== 'key' && paging.is_stable !== true;
  const deltaToken = next === null ? deltaTokenOf(source, fetched) : undefined;
  return {
    records: [...records.values()],
    next,
    hasHiddenRows,
    ...(removed.size === 0 ? {} : { removed: [...removed.values()] }),
    ...(deltaToken === undefined ? {} : { deltaToken }),
  };
}

function isRemoved({ removed, removed_value }: NonNullable<HttpSource['delta']>, row: Row): boolean {
  const value = removed === undefined ? undefined : valueAt(row, removed);
  if (removed_value !== undefined) return String(value ?? '') === removed_value;
  return value !== undefined && value !== null && value !== false;
}
