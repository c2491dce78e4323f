import { isUtf8 } from 'node:buffer';
import { csvRecords } from '../../../../../domain/exchange/imports/imports.csv-records.ts';
import { findTextError, utf8Chunks } from '../../../../../domain/exchange/imports/imports.utf8.ts';
import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { EstateError } from '../../../../../platform/errors.ts';
import { isRemoteError, RemoteError } from '../../remote.ts';
import type { Transport } from '../transport.ts';
import { isRow, keyOf, type Row, valueAt } from './records.ts';

/** How often a truncated document is requested. */
const ATTEMPTS = 3;

/** A parsed response of a source. */
export interface Fetched extends Parsed {
  /** When it was last changed, or when the server responded if it does not report that; RFC 3339. */
  at: string;
  etag: string | undefined;
  lastModified: string | undefined;
  headers: Record<string, string>;
}

export interface FetchOptions {
  /** Query parameters besides those of the source. */
  parameters?: Record<string, string>;
  /** Another path of the same server, with its query. */
  path?: string;
  /** Rows of a page, for the paging parameter of the source. */
  limit?: number;
  headers?: Record<string, string>;
}

/** Fetches a source; null if it has not changed. */
export type Fetch = (source: HttpSource, options?: FetchOptions) => Promise<Fetched | null>;

/** @param address the address of the connection; sources are below it and are requested from its server only. */
export function createFetch(transport: Transport, address: string): Fetch {
  const root = new URL(address);
  const prefix = root.pathname.replace(/\/$/, '');

  const once = async (source: HttpSource, url: URL, options: FetchOptions): Promise<Fetched | null> => {
    const { parameters = {}, path, limit, headers = {} } = options;
    const limitName = source.paging?.limit_parameter;
    const response = await transport.send({
      method: 'GET',
      path: url.pathname,
      doing: `Reading ${source.name}`,
      headers: { accept: accepted[source.format], ...headers },
      pageSize: limit,
      query: (pageSize) => {
        const query = new URLSearchParams(url.searchParams);
        for (const [name, value] of Object.entries(parameters)) query.set(name, value);
        // a link has all parameters that the server needs
        if (limitName !== undefined && path === undefined) query.set(limitName, String(pageSize));
        return query;
      },
    });
    const { result, headers: responseHeaders } = response;
    if (result === undefined) return null;
    const parsed = await parseRows(source, result as Buffer, `${root.origin}${url.pathname}`);
    const { etag, 'last-modified': lastModified, date } = responseHeaders;
    const at = parseHttpDate(lastModified) ?? parseHttpDate(date) ?? new Date(0).toISOString();
    return { ...parsed, at, etag, lastModified, headers: responseHeaders };
  };

  return async (source, options = {}) => {
    const { path } = source;
    const below = path === '' || path.startsWith('?') ? path : `/${path.replace(/^\//, '')}`;
    const url = new URL(options.path ?? `${prefix}${below}`, root);
    if (url.origin !== root.origin) {
      // credentials are sent only to the server of the connection
      const what = `The next page of ${source.name} leads to another server`;
      throw new RemoteError('refused', `source ${source.name}`, what);
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(source, url, options);
      } catch (error) {
        if (attempt === ATTEMPTS || !isRemoteError(error, 'incomplete_response')) throw error;
      }
    }
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
  for (const { row, place } of rows) {
    const key = keyOf(row, source.key);
    if (key === undefined) throw bad(`has no key (${source.key}) in ${place}`);
    keyed.push({ key, row });
  }
  return { rows: keyed, header, document };
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
