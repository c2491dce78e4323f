import type { HttpSource } from '../../../../domain/exchange/itsm/connections.sources.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Page } from '../connector.ts';
import type { Asked, Fetch } from './fetching.ts';
import { fits, recordOf } from './records.ts';
import type { Row } from './values.ts';

/** HTTP counts in seconds: a file that was written again within one looks unchanged. */
const GRAIN_MS = 2_000;

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

export interface PageAsked {
  fields: string[];
  filter?: string | undefined;
  limit: number;
  cursor: string | null;
  /** Rows that say themselves that they were changed before are left out. */
  from?: number | undefined;
}

/** Sources of which one answer holds all rows; fetched anew only where they have changed. */
export interface Files {
  /** @param since nothing is read when the file has not changed since; milliseconds. @returns null then. */
  snapshot(source: HttpSource, since?: number): Promise<Result<Snapshot | null>>;
  page(source: HttpSource, asked: PageAsked): Promise<Result<Page>>;
}

export function createFiles(fetch: Fetch): Files {
  const known = new Map<string, Snapshot>();

  const snapshot: Files['snapshot'] = async (source, since) => {
    const before = known.get(source.name);
    const fetched = await fetch(source, { headers: conditions(before, since) });
    if (!fetched.ok) return fetched;
    if (fetched.value === null) {
      if (before || since !== undefined) return done(before ?? null);
      return failed('unreadable_answer', `source ${source.name}`, `${source.name} was answered without rows`);
    }
    const { at, etag, lastModified, rows, header } = fetched.value;
    const sorted = [...rows].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const twice = sorted.find(({ key }, index) => sorted[index + 1]?.key === key);
    if (twice)
      return failed(
        'ambiguous',
        `source ${source.name}`,
        `${source.name} has two rows with the key ${twice.key}`,
      );
    const fresh = { at, etag, lastModified, rows: sorted, header };
    known.set(source.name, fresh);
    return done(fresh);
  };

  return {
    snapshot,
    async page(source, { fields, filter, limit, cursor, from }) {
      // later pages are of the file as the first one was, unless another process read that
      const held = cursor === null ? undefined : known.get(source.name);
      const got = held ? done(held) : await snapshot(source, cursor === null ? from : undefined);
      if (!got.ok) return got;
      if (got.value === null) return done({ records: [], next: null, withheld: false });
      const { at, rows } = got.value;
      const lost = lostColumn(source, got.value, fields);
      if (lost) return lost;
      const isWanted = fits(filter);
      const records: RemoteRecord[] = [];
      let last: string | undefined;
      for (const { key, row } of rows) {
        if (cursor !== null && key <= cursor) continue;
        if (records.length === limit) return done({ records, next: last!, withheld: false });
        if (!isWanted(row)) continue;
        const record = recordOf(source, key, row, fields, at);
        if (from !== undefined && Date.parse(record.updatedAt) < from && source.updated !== undefined)
          continue;
        records.push(record);
        last = key;
      }
      return done({ records, next: null, withheld: false });
    },
  };
}

/** Why a file cannot be read for these columns: its header no longer names one, and rows without it would look emptied. */
export function lostColumn(
  source: HttpSource,
  { header }: Pick<Snapshot, 'header'>,
  fields: readonly string[],
): Result<never> | undefined {
  const lost = header && fields.find((name) => !header.includes(name));
  if (lost === undefined) return undefined;
  return failed('bad_rows', `source ${source.name}`, `${source.name} has no column ${lost} any more`);
}

/** What makes a server say that nothing has changed. */
function conditions(before: Snapshot | undefined, since: number | undefined): NonNullable<Asked['headers']> {
  if (before?.etag !== undefined) return { 'if-none-match': before.etag };
  if (before?.lastModified !== undefined) return { 'if-modified-since': before.lastModified };
  if (before || since === undefined) return {};
  return { 'if-modified-since': new Date(since - GRAIN_MS).toUTCString() };
}
