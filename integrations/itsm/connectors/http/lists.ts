import type { HttpSource, SourcePaging } from '../../../../domain/exchange/itsm/connections.sources.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Page } from '../connector.ts';
import type { Asked, Fetch, Fetched } from './fetching.ts';
import type { PageAsked } from './files.ts';
import { fits, recordOf } from './records.ts';
import { valueAt } from './values.ts';

/** A JSON list that goes on from page to page. */
export type PagedSource = HttpSource & { paging: SourcePaging };

/** One page of a list as its server gives it. */
export async function readList(fetch: Fetch, source: PagedSource, asked: PageAsked): Promise<Result<Page>> {
  const { fields, filter, limit, cursor, from } = asked;
  const { paging } = source;
  const since: Record<string, string> =
    from === undefined || paging.since_parameter === undefined
      ? {}
      : { [paging.since_parameter]: new Date(from).toISOString() };
  const fetched = await fetch(source, { limit, ...onward(paging, cursor, since) });
  if (!fetched.ok) return fetched;
  // nobody was asked whether it has changed
  if (fetched.value === null)
    return failed('unreadable_answer', `source ${source.name}`, `${source.name} was answered without rows`);
  const { rows, at } = fetched.value;
  const next = nextOf(paging, fetched.value);
  if (next !== null && (next === cursor || (paging.by === 'key' && rows.some(({ key }) => key === cursor)))) {
    const what = `Reading ${source.name} does not get on: a page leads to itself`;
    return failed('paging_ignored', `source ${source.name}`, what);
  }
  const isWanted = fits(filter);
  const records = new Map<string, RemoteRecord>();
  for (const { key, row } of rows) {
    if (!isWanted(row)) continue;
    const record = recordOf(source, key, row, fields, at);
    const isOld = source.updated !== undefined && from !== undefined && Date.parse(record.updatedAt) < from;
    if (!isOld) records.set(key, record);
  }
  const withheld = paging.by !== 'key' && paging.is_stable !== true;
  return done({ records: [...records.values()], next, withheld });
}

function onward(
  paging: SourcePaging,
  cursor: string | null,
  since: Record<string, string>,
): Pick<Asked, 'path' | 'parameters'> {
  if (cursor === null) return { parameters: since };
  // a link holds all that the server wants to be asked with
  if (paging.by === 'link') return { path: cursor };
  return { parameters: { ...since, [paging.parameter]: cursor } };
}

function nextOf(paging: SourcePaging, { rows, document, headers }: Fetched): string | null {
  switch (paging.by) {
    case 'key':
      // a short page may have been cut by the server: only an empty one is the end
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
