import type { HttpSource } from '../../../../domain/exchange/itsm/connections.sources.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { Transport } from '../transport.ts';
import { type Parsed, parseRows } from './parse.ts';

/** How often a document that breaks off is asked for. */
const ATTEMPTS = 3;

/** An answer of a source, taken apart. */
export interface Fetched extends Parsed {
  /** When it was last changed as far as its server tells, or when it answered; RFC 3339. */
  at: string;
  etag: string | undefined;
  lastModified: string | undefined;
  headers: Record<string, string>;
}

export interface Asked {
  /** Beyond that of the source. */
  parameters?: Record<string, string>;
  /** Another address of the same server, with its query. */
  path?: string;
  /** Rows of a page; put into the parameter that takes it. */
  limit?: number;
  headers?: Record<string, string>;
}

/** Gets what lies at the address of a source; null where it has not changed. */
export type Fetch = (source: HttpSource, asked?: Asked) => Promise<Result<Fetched | null>>;

/** @param address of the connection; sources lie below it, and are asked for from its server alone. */
export function createFetch(transport: Transport, address: string): Fetch {
  const root = new URL(address);
  const prefix = root.pathname.replace(/\/$/, '');

  const once = async (source: HttpSource, url: URL, asked: Asked): Promise<Result<Fetched | null>> => {
    const { parameters = {}, path, limit, headers = {} } = asked;
    const limitName = source.paging?.limit_parameter;
    const answer = await transport.send({
      method: 'GET',
      path: url.pathname,
      doing: `Reading ${source.name}`,
      headers: { accept: accepted[source.format], ...headers },
      ...(limit === undefined ? {} : { pageSize: limit }),
      query: (pageSize) => {
        const query = new URLSearchParams(url.searchParams);
        for (const [name, value] of Object.entries(parameters)) query.set(name, value);
        // a link holds all that the server wants to be asked with
        if (limitName !== undefined && path === undefined) query.set(limitName, String(pageSize));
        return query;
      },
    });
    if (!answer.ok) return answer;
    const { result, headers: got } = answer.value;
    if (result === undefined) return done(null);
    const parsed = await parseRows(source, result as Buffer, `${root.origin}${url.pathname}`);
    if (!parsed.ok) return parsed;
    const { etag, 'last-modified': lastModified, date } = got;
    const at = dated(lastModified) ?? dated(date) ?? new Date(0).toISOString();
    return done({ ...parsed.value, at, etag, lastModified, headers: got });
  };

  return async (source, asked = {}) => {
    const { path } = source;
    const below = path === '' || path.startsWith('?') ? path : `/${path.replace(/^\//, '')}`;
    const url = new URL(asked.path ?? `${prefix}${below}`, root);
    if (url.origin !== root.origin) {
      // credentials are for the server they were given for
      const what = `The next page of ${source.name} leads to another server`;
      return failed('refused', `source ${source.name}`, what);
    }
    for (let attempt = 1; ; attempt += 1) {
      const fetched = await once(source, url, asked);
      if (fetched.ok || fetched.failure.code !== 'incomplete_answer' || attempt === ATTEMPTS) return fetched;
    }
  };
}

const accepted: Record<HttpSource['format'], string> = {
  csv: 'text/csv, text/plain;q=0.5, */*;q=0.1',
  json: 'application/json, */*;q=0.1',
  ndjson: 'application/x-ndjson, application/jsonl, */*;q=0.1',
};

function dated(header: string | undefined): string | undefined {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
