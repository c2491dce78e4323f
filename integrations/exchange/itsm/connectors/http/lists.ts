import type { HttpSource, SourcePaging } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { RemoteError, type RemoteRecord } from '../../remote.ts';
import type { Page } from '../connector.ts';
import type { Fetch, Fetched, FetchOptions } from './fetching.ts';
import { noRowsError, type PageRequest } from './files.ts';
import { createRowFilter, recordOf } from './records.ts';
import { valueAt } from './values.ts';

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
