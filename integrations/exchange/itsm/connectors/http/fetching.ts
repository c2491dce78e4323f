import { isUtf8 } from 'node:buffer';
import { csvRecords } from '../../../../../domain/exchange/imports/imports.csv-records.ts';
import { findTextError, utf8Chunks } from '../../../../../domain/exchange/imports/imports.utf8.ts';
import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import { EstateError } from '../../../../../platform/errors.ts';
import { isRemoteError, RemoteError } from '../../remote.ts';
import { inBrackets } from '../responses.ts';
import type { Call, Transport } from '../transport.ts';
import {
  comparableValue,
  isRow,
  isStorable,
  keyOf,
  type Row,
  textOf,
  valueAt,
  withValueAt,
} from './records.ts';
import { errorsBeside, readGraphQl } from './responses.ts';

/** How often a truncated document is requested. */
const ATTEMPTS = 3;
/** Longer lists in one response are an error. */
const MAX_ROWS = 500_000;

/** A parsed response of a source. */
export interface Fetched extends Parsed {
  /** When it was last changed, or when the server responded if it does not report that; RFC 3339. */
  at: string;
  etag: string | undefined;
  lastModified: string | undefined;
  headers: Record<string, string>;
  /** The path and query of a link in the response, without the API key. @throws RemoteError if it leads to another server. */
  resolve(link: string): string;
}

export interface FetchOptions {
  /** Parameters of the query, the body or the variables, besides those of the source. */
  parameters?: Record<string, string | number>;
  /** Another path of the same server, with its query. */
  path?: string;
  /** Rows of a page, for the paging parameter of the source. */
  limit?: number;
  headers?: Record<string, string>;
}

/** Fetches a source; null if it has not changed. */
export type Fetch = (source: HttpSource, options?: FetchOptions) => Promise<Fetched | null>;

/**
 * @param address the address of the connection; sources are below it and are requested from its server only.
 * @param keyParameter the parameter of the query that contains the API key.
 */
export function createFetch(transport: Transport, address: string, keyParameter?: string): Fetch {
  const root = new URL(address);
  const prefix = root.pathname.replace(/\/$/, '');

  /** Credentials are sent only to the server of the connection. */
  const urlOf = (source: HttpSource, link: string, base: URL): URL => {
    const url = URL.canParse(link, base.href) ? new URL(link, base) : undefined;
    if (url?.origin === root.origin) return url;
    const what = `The next page of ${source.name} leads to another server`;
    throw new RemoteError('refused', `source ${source.name}`, what);
  };

  const once = async (source: HttpSource, url: URL, options: FetchOptions): Promise<Fetched | null> => {
    const response = await transport.send({
      ...callOf(source, url, options),
      doing: `Reading ${source.name}`,
      headers: { accept: accepted[source.format], ...source.headers, ...options.headers },
      ...(source.graphql ? { read: readGraphQl } : {}),
    });
    const { result, headers } = response;
    if (result === undefined) return null;
    const where = `${root.origin}${url.pathname}`;
    const parsed = await parseRows(source, result as Buffer, where);
    const { document } = parsed;
    const errors = errorsBeside(
      document,
      source.rows === undefined ? document : valueAt(document, source.rows),
    );
    if (errors.length > 0) {
      const [first] = errors;
      const message = inBrackets(transport, String((isRow(first) ? first.message : first) ?? ''));
      const what = `Reading ${source.name} returned ${errors.length} errors beside the rows${message}`;
      throw new RemoteError('refused', where, what);
    }
    const { etag, 'last-modified': lastModified, date } = headers;
    const at = parseHttpDate(lastModified) ?? parseHttpDate(date) ?? new Date(0).toISOString();
    const resolve = (link: string) => {
      // RFC 8288, 3.2: relative to the address of the response
      const target = urlOf(source, link, url);
      if (keyParameter !== undefined) target.searchParams.delete(keyParameter);
      return `${target.pathname}${target.search}`;
    };
    return { ...parsed, at, etag, lastModified, headers, resolve };
  };

  return async (source, options = {}) => {
    const { path } = source;
    const below = path === '' || path.startsWith('?') ? path : `/${path.replace(/^\//, '')}`;
    const url = urlOf(source, options.path ?? `${prefix}${below}`, root);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(source, url, options);
      } catch (error) {
        if (attempt === ATTEMPTS || !isRemoteError(error, 'incomplete_response')) throw error;
      }
    }
  };
}

/** The request of a source: its parameters are in the query, in the body, or are variables of the GraphQL query. */
function callOf(
  source: HttpSource,
  url: URL,
  options: FetchOptions,
): Pick<Call, 'method' | 'path' | 'query' | 'body' | 'isRead' | 'pageSize'> {
  const { paging, body, graphql } = source;
  const { path, parameters = {} } = options;
  const limit = options.limit && Math.min(options.limit, paging?.page_size ?? options.limit);
  // a link has all parameters that the server needs
  const limitName = path === undefined ? paging?.limit_parameter : undefined;
  // pages are counted in pages of one size
  const isFixed = paging?.by === 'page';
  const withLimit = (pageSize: number): Record<string, string | number> =>
    limitName === undefined ? parameters : { ...parameters, [limitName]: isFixed ? (limit ?? 0) : pageSize };
  const pageSize = isFixed || limit === undefined || limitName === undefined ? {} : { pageSize: limit };
  const query = (more: Record<string, string | number>) => {
    const all = new URLSearchParams(url.searchParams);
    for (const [name, value] of Object.entries(more)) all.set(name, String(value));
    return all;
  };
  if (!body && !graphql)
    return { method: 'GET', path: url.pathname, query: (size) => query(withLimit(size)), ...pageSize };
  const template = (graphql ? graphql.variables : body) ?? {};
  const filled = (size: number) =>
    Object.entries(withLimit(size)).reduce<Row>(
      (object, [name, value]) => withValueAt(object, name, value),
      template,
    );
  return {
    method: 'POST',
    path: url.pathname,
    query: () => query({}),
    body: (size) => (graphql ? { query: graphql.query, variables: filled(size) } : filled(size)),
    isRead: true,
    ...pageSize,
  };
}

const accepted: Record<HttpSource['format'], string> = {
  csv: 'text/csv, text/plain;q=0.5, */*;q=0.1',
  json: 'application/json, */*;q=0.1',
  ndjson: 'application/x-ndjson, application/jsonl, */*;q=0.1',
};

function parseHttpDate(header: string | undefined): string | undefined {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Rows with their keys. */
interface Parsed {
  rows: { key: string; row: Row }[];
  /** The column names of a file with a header. */
  header: readonly string[] | undefined;
  /** The whole JSON document, for its members besides the rows. */
  document: unknown;
  /** The number of rows of the response, before nested lists are expanded. */
  received: number;
}

/** Parses a response. One invalid row makes the whole response invalid, since an omitted row would count as gone. */
async function parseRows(source: HttpSource, body: Buffer, where: string): Promise<Parsed> {
  const bad = (what: string) => new RemoteError('bad_rows', where, `${source.name} ${what}`);
  let rows: { row: Row; place: string }[];
  let document: unknown;
  let header: readonly string[] | undefined;
  // the CSV parser reports the line
  if (source.format !== 'csv' && !isUtf8(body)) throw bad('is not UTF-8 text');
  switch (source.format) {
    case 'csv': {
      const read = await parseCsv(source, body);
      if (typeof read === 'string') throw bad(read);
      ({ rows, header } = read);
      break;
    }
    case 'ndjson': {
      const lines = body
        .toString('utf8')
        .split('\n')
        .map((text, at) => ({ text: text.trim(), place: `line ${at + 1}` }))
        .filter(({ text }) => text !== '');
      const read = lines.map(({ text, place }) => ({ row: parseJson(text), place }));
      const invalid = read.find(({ row }) => !isRow(row));
      if (invalid) throw bad(`has no JSON object in ${invalid.place}`);
      if (read.length === 0) throw bad('is empty');
      rows = read as typeof rows;
      break;
    }
    case 'json': {
      document = parseJson(body.toString('utf8'));
      if (document === undefined)
        throw new RemoteError('incomplete_response', where, `Reading ${source.name} returned truncated JSON`);
      const list = source.rows === undefined ? document : valueAt(document, source.rows);
      if (!Array.isArray(list)) throw bad(`has no list${source.rows ? ` at ${source.rows}` : ''}`);
      rows = list.map((row, at) => ({ row: row as Row, place: `row ${at + 1}` }));
      const invalid = rows.find(({ row }) => !isRow(row));
      if (invalid) throw bad(`has no object in ${invalid.place}`);
    }
  }
  const keyed: Parsed['rows'] = [];
  for (const { row: received, place } of rows) {
    const row = source.columns ? withColumns(received, source.columns) : received;
    const key = keyOf(row, source.key);
    if (key === undefined) {
      const isUnusable = textOf(comparableValue(valueAt(row, source.key))).trim() !== '';
      throw bad(`has ${isUnusable ? 'an unusable' : 'no'} key (${source.key}) in ${place}`);
    }
    if (!isStorable(received)) throw bad(`has a null character or half a character in ${place}`);
    const expanded = source.expand ? expandRow(source.expand, key, row) : [{ key, row }];
    if (typeof expanded === 'string') throw bad(`${expanded} in ${place}`);
    for (const one of expanded) keyed.push(one);
    if (keyed.length > MAX_ROWS) throw bad(`has more than ${MAX_ROWS} rows in one response`);
  }
  return { rows: keyed, header, document, received: rows.length };
}

/** A row with further columns, composed of others; without those of which a part is missing. */
function withColumns(row: Row, columns: Readonly<Record<string, string>>): Row {
  const composed = Object.entries(columns).flatMap(([name, template]): [string, unknown][] => {
    let isMissing = false;
    const text = template.replace(/\{([^{}?]+)(\??)\}/g, (_, path: string, isOptional: string) => {
      const value = textOf(comparableValue(valueAt(row, path)));
      if (value === '' && isOptional === '') isMissing = true;
      return value;
    });
    return isMissing ? [] : [[name, text.replace(/\s+/g, ' ').trim() || null]];
  });
  return { ...row, ...Object.fromEntries(composed) };
}

/** The items of a nested list as rows with the columns of their parent, or what is wrong with them. */
function expandRow(
  { rows: column, key }: NonNullable<HttpSource['expand']>,
  parentKey: string,
  row: Row,
): Parsed['rows'] | string {
  const list = valueAt(row, column) ?? [];
  if (!Array.isArray(list)) return `has no list at ${column}`;
  const expanded: Parsed['rows'] = [];
  for (const item of list as unknown[]) {
    const own = isRow(item) ? keyOf(item, key) : keyOf({ item }, 'item');
    if (own === undefined) return `has an item of ${column} without a key (${key})`;
    expanded.push({ key: `${parentKey}/${own}`, row: withValueAt(row, column, item) });
  }
  return expanded;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The rows as objects by the names of the header, or why the file is invalid. */
async function parseCsv(
  { key, separator }: HttpSource,
  body: Buffer,
): Promise<{ rows: { row: Row; place: string }[]; header: readonly string[] } | string> {
  const rows: { row: Row; place: string }[] = [];
  let header: string[] | undefined;
  try {
    for await (const records of csvRecords(utf8Chunks(oneChunk(body)), separator)) {
      for (const { line, cells, error } of records) {
        const place = `line ${line}`;
        if (error) return `${error.message} (${place})`;
        const invalid = cells.map((cell) => findTextError('', cell)).find((found) => found !== undefined);
        if (invalid) return `${invalid.message} (${place})`;
        if (!header) {
          header = cells.map((cell) => cell.trim());
          const duplicate = header.find((name, at) => header!.indexOf(name) < at);
          if (duplicate !== undefined) return `has the column ${duplicate} twice`;
          if (!header.includes(key)) return `has no column ${key}`;
          continue;
        }
        if (cells.length !== header.length)
          return `has ${cells.length} cells in ${place}, and ${header.length} columns`;
        rows.push({ row: Object.fromEntries(header.map((name, at) => [name, cells[at]])), place });
      }
    }
  } catch (error) {
    if (error instanceof EstateError) return 'is not UTF-8 text';
    throw error;
  }
  return header ? { rows, header } : 'is empty';
}

async function* oneChunk(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}
