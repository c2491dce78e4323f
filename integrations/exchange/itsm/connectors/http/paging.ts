import type { HttpSource, SourcePaging } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import { sha256 } from '../../../../../platform/crypto.ts';
import { RemoteError, type RemoteErrorCode } from '../../remote.ts';
import type { Fetched, FetchOptions } from './fetching.ts';
import { valueAt } from './records.ts';

/** A paged JSON list. */
export type PagedSource = HttpSource & { paging: SourcePaging };

export const isPaged = (source: HttpSource): source is PagedSource => source.paging !== undefined;

/** The default of `max_pages`. */
const MAX_PAGES = 10_000;

/** The parameter of the time of change, since which the list is read. @param from milliseconds. */
function sinceParameters(paging: SourcePaging, from: number | undefined): Record<string, string> {
  const { since_parameter: name, since_value: value = '{since}' } = paging;
  if (from === undefined || name === undefined) return {};
  const time = new Date(from).toISOString();
  const parts: Record<string, string> = {
    since: time,
    since_date: time.slice(0, 10),
    since_seconds: String(Math.floor(from / 1000)),
  };
  return { [name]: value.replace(/\{(since(?:_date|_seconds)?)\}/g, (_, part: string) => parts[part]!) };
}

/**
 * Where the next delta starts, as the last page names it. A token is only valid for the request that it was issued for.
 */
export function deltaTokenOf(source: PagedSource, { document, resolve }: Fetched): string | undefined {
  const { delta } = source;
  const next = delta && textOf(valueAt(document, delta.next));
  if (!next) return undefined;
  return `${requestDigest(source)}~${delta.parameter === undefined ? resolve(next) : next}`;
}

const requestDigest = ({ path, headers, body, graphql, delta }: PagedSource): string =>
  digest(JSON.stringify([path, headers, body, graphql, delta]));

/** What is sent for the first page of a delta. @throws RemoteError `resync_needed` for a token of another request. */
export function optionsOfDelta(
  source: PagedSource,
  token: string,
): Pick<FetchOptions, 'path' | 'parameters'> {
  const [issuedFor, next] = [token.slice(0, 16), token.slice(17)];
  if (issuedFor !== requestDigest(source) || !source.delta)
    throw new RemoteError(
      'resync_needed',
      `source ${source.name}`,
      `The request of ${source.name} was changed`,
    );
  const { parameter } = source.delta;
  return parameter === undefined ? { path: next } : { parameters: { [parameter]: next } };
}

/** What is sent for a page. @param cursor of the page, null for the first one. */
export function optionsOfPage(
  paging: SourcePaging,
  cursor: string | null,
  from: number | undefined,
): Pick<FetchOptions, 'path' | 'parameters' | 'headers'> {
  const since = sinceParameters(paging, from);
  if (paging.by === 'offset' || paging.by === 'page')
    return { parameters: { ...since, [paging.parameter]: Number(cursor ?? firstOf(paging)) } };
  if (cursor === null) return { parameters: since };
  // a link has all parameters that the server needs
  if (paging.by === 'link') return { path: cursor };
  if (paging.by === 'cursor' && paging.parameter_in === 'header')
    return { parameters: since, headers: { [paging.parameter]: cursor } };
  return { parameters: { ...since, [paging.parameter]: cursor } };
}

const firstOf = (paging: SourcePaging): number => (paging.by === 'page' ? (paging.first ?? 1) : 0);

/** Where reading has arrived, as text: the cursor of the next page, and what shows an endless loop. */
interface Place {
  cursor: string;
  /** Pages that were read. */
  pages: number;
  /** Brent's cycle detection: an earlier cursor, and after how many further ones it is replaced. */
  mark: string;
  power: number;
  steps: number;
  /** A digest of the keys of the last page. */
  keys: string;
}

const encoded = /^~(\d+)\.(\d+)\.(\d+)\.([0-9a-f]*)\.([0-9a-f]*)~(.*)$/s;

/** Reads the text of a place; another text is only a cursor. */
export function placeOf(text: string): Place {
  const [, pages, power, steps, mark = '', keys = '', cursor = text] = encoded.exec(text) ?? [];
  return {
    cursor,
    pages: Number(pages ?? 1),
    power: Number(power ?? 1),
    steps: Number(steps ?? 0),
    mark,
    keys,
  };
}

const digest = (text: string): string => sha256(text).slice(0, 16);

/**
 * The place of the next page; null after the last one.
 * @param before where this page was; null: the first one.
 * @throws RemoteError `paging_ignored` when paging does not end.
 */
export function placeAfter(source: PagedSource, fetched: Fetched, before: Place | null): string | null {
  const { paging } = source;
  const cursor = cursorAfter(source, fetched, before?.cursor ?? null);
  if (cursor === null) return null;
  const pages = (before?.pages ?? 0) + 1;
  const keys = digest(JSON.stringify(fetched.rows.map(({ key }) => key)));
  const isRepeated = (paging.by === 'offset' || paging.by === 'page') && before?.keys === keys;
  const isBehind = paging.by === 'key' && fetched.rows.some(({ key }) => key === before?.cursor);
  if (cursor === before?.cursor || isRepeated || isBehind || before?.mark === digest(cursor))
    throw pagingError(
      'paging_ignored',
      source,
      'makes no progress: a page leads to itself or to an earlier one',
    );
  const { max_pages: max = MAX_PAGES } = paging;
  if (pages >= max) throw pagingError('paging_ignored', source, `has more than ${max} pages`);
  const last = before ?? { power: 1, steps: 0, mark: '' };
  const isMarked = last.mark === '' || last.steps + 1 >= last.power;
  const power = isMarked && last.mark !== '' ? last.power * 2 : last.power;
  const mark = isMarked ? digest(cursor) : last.mark;
  return `~${pages}.${power}.${isMarked ? 0 : last.steps + 1}.${mark}.${keys}~${cursor}`;
}

const pagingError = (code: RemoteErrorCode, { name }: HttpSource, what: string): RemoteError =>
  new RemoteError(code, `source ${name}`, `Reading ${name} ${what}`);

/** The cursor of the next page as the response names it; null if this page is the last. */
function cursorAfter(source: PagedSource, fetched: Fetched, before: string | null): string | null {
  const { paging } = source;
  const { rows, received, document, headers } = fetched;
  switch (paging.by) {
    case 'key':
      // the server may have shortened the page: only an empty one is the last
      return rows.at(-1)?.key ?? null;
    case 'cursor': {
      const more = paging.more === undefined ? undefined : valueAt(document, paging.more);
      if (more === false) return null;
      const next =
        paging.next === undefined
          ? textOf(headers[paging.next_header!.toLowerCase()])
          : nextAt(source, document, paging.next);
      if (next === null && more)
        throw pagingError('bad_rows', source, 'ended without the cursor of the next page');
      return next;
    }
    case 'link': {
      const link =
        paging.next === undefined ? nextLink(headers.link ?? '') : nextAt(source, document, paging.next);
      return link === null ? null : fetched.resolve(link);
    }
    case 'offset': {
      const next = Number(before ?? 0) + received;
      const total = countAt(source, document, paging.total, received);
      return restOf(source, next, received, total);
    }
    case 'page': {
      const page = Number(before ?? firstOf(paging));
      const pages = countAt(source, document, paging.pages, Math.min(received, 1));
      return restOf(source, page + 1, received, pages === undefined ? undefined : pages + firstOf(paging));
    }
  }
}

/** @param end the first number behind the list, if the response says it. */
function restOf(source: PagedSource, next: number, received: number, end: number | undefined): string | null {
  if (end !== undefined && next >= end) return null;
  if (received > 0) return String(next);
  if (end === undefined) return null;
  throw pagingError('incomplete_response', source, 'returned an empty page before the end of the list');
}

/** A number of rows or pages; undefined if the response has none. @param least what the response itself shows. */
function countAt(
  source: PagedSource,
  document: unknown,
  path: string | undefined,
  least: number,
): number | undefined {
  const value = path === undefined ? undefined : valueAt(document, path);
  if (value === undefined || value === null) return undefined;
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof count === 'number' && Number.isInteger(count) && count >= least) return count;
  throw pagingError('bad_rows', source, `found a value at ${path} that cannot be the number of all`);
}

/** The cursor or link at a path; null after the last page. @throws RemoteError for another value, since the path may be wrong. */
function nextAt(source: PagedSource, document: unknown, path: string): string | null {
  const value = valueAt(document, path);
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' || (typeof value === 'number' && source.paging.by === 'cursor'))
    return String(value);
  throw pagingError('bad_rows', source, `found a value at ${path} that is no ${source.paging.by}`);
}

const textOf = (value: unknown): string | null =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : null;

const parameterText = String.raw`\s*;\s*([^\s=;,"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?`;

/** The target of `rel="next"` in a Link header (RFC 8288, 3). */
export function nextLink(header: string): string | null {
  for (const [, target = '', text = ''] of header.matchAll(
    new RegExp(`<([^>]*)>((?:${parameterText})*)`, 'g'),
  )) {
    const parameters = [...text.matchAll(new RegExp(parameterText, 'g'))];
    // of several relations the first one counts
    const [, , quoted, plain = ''] = parameters.find(([, name]) => name!.toLowerCase() === 'rel') ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return null;
}
