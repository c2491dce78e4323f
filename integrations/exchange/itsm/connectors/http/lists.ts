import type { HttpSource, SourcePaging } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { RemoteError, type RemoteErrorCode, type RemoteRecord } from '../../remote.ts';
import type { Page } from '../connector.ts';
import type { Fetch, Fetched, FetchOptions } from './fetching.ts';
import { createRowFilter, type Row, recordOf, valueAt } from './records.ts';

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

/** A paged JSON list. */
export type PagedSource = HttpSource & { paging: SourcePaging };

/** One page of a list as its server returns it. */
export async function readList(fetch: Fetch, source: PagedSource, request: PageRequest): Promise<Page> {
  const { fields, filter, limit, cursor, from } = request;
  const { paging } = source;
  const since: Record<string, string> =
    from === undefined || paging.since_parameter === undefined
      ? {}
      : { [paging.since_parameter]: new Date(from).toISOString() };
  const fetched = await fetch(source, { limit, ...parametersFor(paging, cursor, since) });
  // the request was not conditional
  if (fetched === null) throw noRowsError(source);
  const { rows, at } = fetched;
  const next = nextOf(paging, fetched);
  if (next !== null && (next === cursor || (paging.by === 'key' && rows.some(({ key }) => key === cursor)))) {
    const what = `Reading ${source.name} makes no progress: a page leads to itself`;
    throw new RemoteError('paging_ignored', `source ${source.name}`, what);
  }
  const isWanted = createRowFilter(filter);
  const records = new Map<string, RemoteRecord>();
  for (const { key, row } of rows) {
    if (!isWanted(row)) continue;
    const record = recordOf(source, key, row, fields, at);
    const isOld = source.updated !== undefined && from !== undefined && Date.parse(record.updatedAt) < from;
    if (!isOld) records.set(key, record);
  }
  const hasHiddenRows = paging.by !== 'key' && paging.is_stable !== true;
  return { records: [...records.values()], next, hasHiddenRows };
}

function parametersFor(
  paging: SourcePaging,
  cursor: string | null,
  since: Record<string, string>,
): Pick<FetchOptions, 'path' | 'parameters'> {
  if (cursor === null) return { parameters: since };
  // a link has all parameters that the server needs
  if (paging.by === 'link') return { path: cursor };
  return { parameters: { ...since, [paging.parameter]: cursor } };
}

function nextOf(paging: SourcePaging, { rows, document, headers }: Fetched): string | null {
  switch (paging.by) {
    case 'key':
      // the server may have shortened the page: only an empty one is the last
      return rows.at(-1)?.key ?? null;
    case 'cursor':
      return textOf(valueAt(document, paging.next));
    case 'link': {
      if (paging.next !== undefined) return textOf(valueAt(document, paging.next));
      const [, link] = /<([^>]+)>\s*;[^,]*\brel="?next"?/i.exec(headers.link ?? '') ?? [];
      return link ?? null;
    }
  }
}

const textOf = (value: unknown): string | null =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : null;
