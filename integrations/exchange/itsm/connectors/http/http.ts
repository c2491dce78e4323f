import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import { type RecordLookup, RemoteError } from '../../remote.ts';
import type { Connector, Page, ReadRequest } from '../connector.ts';
import { absentColumns, pagesOf, searchTables } from '../responses.ts';
import { testRights } from '../rights.ts';
import {
  type ConnectorParts,
  connectionOf,
  defaultTransport,
  openTransport,
  type TransportConfig,
} from '../transport.ts';
import { createHttpSession, type HttpAuth, httpAccountOf } from './authentication.ts';
import { columnsOf } from './description.ts';
import { createFetch, type Fetch } from './fetching.ts';
import { withJoins } from './joining.ts';
import { createFiles, readList, requireColumns } from './lists.ts';
import { isPaged } from './paging.ts';
import { columnsInFilter, idOf, keyIn, type Row, recordOf, valueAt } from './records.ts';
import { readResponse } from './responses.ts';

interface HttpConfig extends TransportConfig {
  /** The address below which all sources are. */
  url: string;
  auth: HttpAuth;
  sources: readonly HttpSource[];
  /** Maximum size of a response; a file is read into memory. */
  maxBytes: number;
}

const defaultConfig: Omit<HttpConfig, 'url' | 'auth' | 'sources'> = {
  ...defaultTransport,
  timeoutMs: 120_000,
  maxBytes: 32 * 1024 * 1024,
};

/** How long before the watermark a delta starts. */
const OVERLAP_MS = 60_000;
/** Rows whose values show the kinds of columns. */
const SAMPLE = 1_000;
const PAGE = 1_000;

export type HttpParts = ConnectorParts<Pick<HttpConfig, 'url' | 'auth' | 'sources'> & Partial<HttpConfig>>;

/** Lists of rows at HTTP addresses: files, and paged JSON. They are read only. */
export function connectHttp(parts: HttpParts): Connector {
  const config: HttpConfig = { ...defaultConfig, ...parts.config };
  const { origin, host } = new URL(config.url);
  const transport = openTransport(
    { ...parts, config },
    {
      base: origin,
      account: `${host} http ${httpAccountOf(config.auth)}`,
      read: readResponse,
      session: (around) => createHttpSession(config.auth, { ...around, timeoutMs: config.timeoutMs }),
      maxBytes: config.maxBytes,
    },
  );
  const fetch = withJoins(createFetch(transport, config.url, keyParameterOf(config.auth)), config.sources);
  const files = createFiles(fetch);

  const sourceOf = (name: string): HttpSource => {
    const source = config.sources.find((one) => one.name === name);
    if (source) return source;
    throw new RemoteError('not_found', `source ${name}`, `The connection has no source ${name}`);
  };

  const read = (
    { table, fields, filter, limit, cursor }: ReadRequest,
    from?: number,
    token?: string | null,
  ): Promise<Page> => {
    const source = sourceOf(table);
    const request = { fields, filter, limit, cursor, from, token };
    return isPaged(source) ? readList(fetch, source, request) : files.page(source, request);
  };

  /** The first rows of a source. */
  const sampleOf = async (source: HttpSource): Promise<Row[]> => {
    const found = isPaged(source) ? await fetch(source, { limit: SAMPLE }) : await files.snapshot(source);
    return (found?.rows ?? []).slice(0, SAMPLE).map(({ row }) => row);
  };

  const describeFields = async (table: string) => {
    const source = sourceOf(table);
    return columnsOf(source, await sampleOf(source));
  };

  const readOnly = async (name: string): Promise<never> => {
    throw new RemoteError('refused', `source ${name}`, `${name} is read only: HTTP lists cannot be written`);
  };

  return {
    ...connectionOf(transport),
    async describeTables(search = '') {
      const tables = config.sources.map(({ name, label }) => ({ name, label: label || name, parent: null }));
      return searchTables(tables, search);
    },
    describeFields,
    describeRelationTypes: async () => [],
    async findUnknownColumns(table, filter) {
      const known = new Set((await describeFields(table)).map(({ name }) => name));
      return columnsInFilter(filter).filter((name) => !known.has(name));
    },
    async findHiddenColumns(table, fields) {
      return absentColumns(await sampleOf(sourceOf(table)), fields, valueAt);
    },
    readPage: async (request) => read(request),
    async readSince(request) {
      const { since, overlapMs = OVERLAP_MS, token } = request;
      return read(request, since === null ? undefined : Date.parse(since) - overlapMs, token);
    },
    readByIds: async (table, ids, fields) => lookUpRows(fetch, files, sourceOf(table), ids, fields),
    async readRelations({ types }) {
      if (types.length === 0) return { relations: [], next: null, hasHiddenRows: false };
      const what = 'HTTP lists have no relations; map the columns that refer to other rows';
      throw new RemoteError('not_found', `relation ${types[0]}`, what);
    },
    readDeletions: async () => [],
    readRelationDeletions: async () => [],
    create: readOnly,
    findCreated: async () => null,
    update: readOnly,
    delete: readOnly,
    createRelation: readOnly,
    deleteRelation: readOnly,
    testRights: (needs) =>
      testRights(needs, {
        unreadable: ({ what }) => `${what}.`,
        async read(table) {
          const rows = await sampleOf(sourceOf(table));
          return { granted: true, how: `Read; ${rows.length} rows were read.` };
        },
        write: async () => ({ granted: false, how: 'HTTP lists are read only.' }),
      }),
  };
}

/** The parameter that contains the API key. */
const keyParameterOf = (auth: HttpAuth): string | undefined =>
  auth.kind === 'api_key' && auth.place.in === 'query' ? auth.place.name : undefined;

/** Finds rows by id: reads the list until all are found. */
async function lookUpRows(
  fetch: Fetch,
  files: ReturnType<typeof createFiles>,
  source: HttpSource,
  ids: string[],
  fields: string[],
): Promise<Map<string, RecordLookup>> {
  const lookups = new Map<string, RecordLookup>();
  const table = source.name;
  if (isPaged(source)) {
    const missing = new Set(ids);
    const pages = pagesOf((cursor) => readList(fetch, source, { fields, limit: PAGE, cursor }));
    if (missing.size > 0)
      for await (const { records } of pages) {
        for (const record of records)
          if (missing.delete(record.id)) lookups.set(record.id, { kind: 'there', record });
        if (missing.size === 0) break;
      }
  } else {
    const snapshot = (await files.snapshot(source))!;
    requireColumns(source, snapshot, fields);
    const wanted = new Set(ids.map((id) => keyIn(table, id)));
    for (const { key, row } of snapshot.rows) {
      if (!wanted.has(key)) continue;
      const record = recordOf(source, key, row, fields, snapshot.at);
      lookups.set(idOf(table, key), { kind: 'there', record });
    }
  }
  // the list may lack the row for other reasons: only full reads show that it is gone
  for (const id of ids) if (!lookups.has(id)) lookups.set(id, { kind: 'unknown', isMissing: true });
  return lookups;
}
