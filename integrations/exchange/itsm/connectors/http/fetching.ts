import type { HttpSource } from '../../../../../domain/exchange/itsm/connections.input.ts';
import { isRemoteError, RemoteError } from '../../remote.ts';
import type { Transport } from '../transport.ts';
import { type Parsed, parseRows } from './parse.ts';

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
        if (attempt === ATTEMPTS || !isRemoteError(error, 'incomplete_answer')) throw error;
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
