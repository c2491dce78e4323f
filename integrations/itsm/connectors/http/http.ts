import { createHash } from 'node:crypto';
import type { HttpSource } from '../../../../domain/exchange/itsm/connections.sources.ts';
import type { Limiter } from '../../limiter/limiter.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { Connector, ReadRequest, RemoteLook, RightFound } from '../connector.ts';
import { type ConnectorParts, openCalling } from '../parts.ts';
import { testTables } from '../rights.ts';
import { createTransport } from '../transport.ts';
import { readAnswer } from './answers.ts';
import { type HttpAuth, type HttpConfig, usualConfig } from './config.ts';
import { columnsOf } from './description.ts';
import { createFetch } from './fetching.ts';
import { createFiles, lostColumn } from './files.ts';
import { type PagedSource, readList } from './lists.ts';
import { idOf, keyIn, namesIn, recordOf } from './records.ts';
import { type Row, valueAt } from './values.ts';

/** How much before the watermark a reading of changes begins. */
const OVERLAP_MS = 60_000;
/** Rows that are looked at for what the columns hold. */
const SAMPLE = 1_000;
const PAGE = 1_000;

export type HttpParts = ConnectorParts<Pick<HttpConfig, 'url' | 'auth' | 'sources'> & Partial<HttpConfig>>;

function headerOf(auth: HttpAuth): string {
  switch (auth.kind) {
    case 'none':
      return '';
    case 'basic':
      return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    case 'token':
      return `Bearer ${auth.token}`;
  }
}

/** Whose limits count; a token is known by its digest alone. */
function accountOf(host: string, auth: HttpAuth): string {
  if (auth.kind === 'none') return `${host} http`;
  const name =
    auth.kind === 'basic'
      ? auth.username
      : createHash('sha256').update(auth.token).digest('hex').slice(0, 16);
  return `${host} http ${name}`;
}

/** Lists of rows at addresses: files, and JSON that goes on from page to page. They are read, and never written. */
export function connectHttp(parts: HttpParts): Connector & { limiter: Limiter } {
  const config: HttpConfig = { ...usualConfig, ...parts.config };
  const { origin, host } = new URL(config.url);
  const { outbound, limiter, clock, random, ending } = openCalling(
    parts,
    accountOf(host, config.auth),
    config.tls,
  );
  const header = headerOf(config.auth);
  const transport = createTransport({
    config,
    base: origin,
    read: readAnswer,
    outbound,
    session: { authorization: async () => done(header) },
    limiter,
    clock,
    random,
    maxBytes: config.maxBytes,
    ...ending,
  });
  const fetch = createFetch(transport, config.url);
  const files = createFiles(fetch);

  const sourceOf = (name: string): Result<HttpSource> => {
    const source = config.sources.find((one) => one.name === name);
    return source
      ? done(source)
      : failed('not_found', `source ${name}`, `The connection has no source ${name}`);
  };
  const isPaged = (source: HttpSource): source is PagedSource => source.paging !== undefined;

  const read = (source: HttpSource, { fields, filter, limit, cursor }: ReadRequest, from?: number) => {
    const asked = { fields, filter, limit, cursor, from };
    return isPaged(source) ? readList(fetch, source, asked) : files.page(source, asked);
  };

  /** Rows as they are, up to so many. */
  const sample = async (source: HttpSource): Promise<Result<Row[]>> => {
    const got = isPaged(source) ? await fetch(source, { limit: SAMPLE }) : await files.snapshot(source);
    return got.ok ? done((got.value?.rows ?? []).slice(0, SAMPLE).map(({ row }) => row)) : got;
  };

  /** Goes through a list until all keys have been met. */
  const findInList = async (
    source: PagedSource,
    ids: ReadonlySet<string>,
    fields: string[],
    looks: Map<string, RemoteLook>,
  ): Promise<Result<null>> => {
    const missing = new Set(ids);
    for (let cursor: string | null = null; missing.size > 0; ) {
      const page = await readList(fetch, source, { fields, limit: PAGE, cursor });
      if (!page.ok) return page;
      for (const record of page.value.records) {
        if (missing.delete(record.id)) looks.set(record.id, { kind: 'there', record });
      }
      cursor = page.value.next;
      if (cursor === null) break;
    }
    return done(null);
  };

  const readOnly = (name: string) =>
    failed('refused', `source ${name}`, `${name} is read only: nothing is written to a list at an address`);

  return {
    limiter,
    async describeTables(search = '') {
      const text = search.trim().toLowerCase();
      return done(
        config.sources
          .map(({ name, label }) => ({ name, label: label || name, parent: null }))
          .filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(text))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    },
    async describeFields(table) {
      const source = sourceOf(table);
      if (!source.ok) return source;
      const rows = await sample(source.value);
      return rows.ok ? done(columnsOf(source.value, rows.value)) : rows;
    },
    describeRelationTypes: async () => done([]),
    async unknownInFilter(table, filter) {
      const source = sourceOf(table);
      if (!source.ok) return source;
      const rows = await sample(source.value);
      if (!rows.ok) return rows;
      const known = new Set(columnsOf(source.value, rows.value).map(({ name }) => name));
      return done(namesIn(filter).filter((name) => !known.has(name)));
    },
    async withheldFields(table, fields) {
      const source = sourceOf(table);
      if (!source.ok) return source;
      const rows = await sample(source.value);
      if (!rows.ok || rows.value.length === 0) return rows.ok ? done([]) : rows;
      return done(fields.filter((path) => rows.value.every((row) => valueAt(row, path) === undefined)));
    },
    async newestChange(table) {
      const source = sourceOf(table);
      if (!source.ok) return source;
      if (isPaged(source.value)) {
        // before it is read nobody knows more than what time it is over there
        const first = await fetch(source.value, { limit: 1 });
        return first.ok ? done(first.value?.at ?? null) : first;
      }
      const got = await files.snapshot(source.value);
      return got.ok ? done(got.value?.at ?? null) : got;
    },
    async readPage(request) {
      const source = sourceOf(request.table);
      return source.ok ? read(source.value, request) : source;
    },
    async readSince(request) {
      const source = sourceOf(request.table);
      if (!source.ok) return source;
      if (request.since === null) return read(source.value, request);
      return read(source.value, request, Date.parse(request.since) - (request.overlapMs ?? OVERLAP_MS));
    },
    async readByIds(table, ids, fields) {
      const found = sourceOf(table);
      if (!found.ok) return found;
      const source = found.value;
      const looks = new Map<string, RemoteLook>();
      if (isPaged(source)) {
        const gone = await findInList(source, new Set(ids), fields, looks);
        if (!gone.ok) return gone;
      } else {
        const got = await files.snapshot(source);
        if (!got.ok) return got;
        const { at, rows } = got.value!;
        const lost = lostColumn(source, got.value!, fields);
        if (lost) return lost;
        const wanted = new Set(ids.map((id) => keyIn(table, id)));
        for (const { key, row } of rows) {
          if (wanted.has(key))
            looks.set(idOf(table, key), { kind: 'there', record: recordOf(source, key, row, fields, at) });
        }
      }
      // a list that lacks a row says nothing of why: only complete readings tell that it is gone
      for (const id of ids) if (!looks.has(id)) looks.set(id, { kind: 'unknown' });
      return done(looks);
    },
    async readRelations({ types }) {
      if (types.length === 0) return done({ relations: [], next: null, withheld: false });
      const what =
        'A list at an address has no relations of its own; map the columns that refer to other rows';
      return failed('not_found', `relation ${types[0]}`, what);
    },
    deletionsSince: async () => done([]),
    relationDeletionsSince: async () => done([]),
    create: async (table) => readOnly(table),
    findCreated: async () => done(null),
    update: async (table) => readOnly(table),
    delete: async (table) => readOnly(table),
    createRelation: async (type) => readOnly(type),
    deleteRelation: async (id) => readOnly(id),
    async testRights(needs) {
      return await testTables(needs, async ({ table, rights }) => {
        const found: RightFound[] = [];
        for (const right of rights) {
          if (right !== 'read') {
            found.push({ table, right, granted: false, how: 'A list at an address is read only.' });
            continue;
          }
          const source = sourceOf(table);
          const rows = source.ok ? await sample(source.value) : source;
          if (rows.ok) {
            const how = `Read; ${rows.value.length} rows were looked at.`;
            found.push({ table, right, granted: true, how });
            continue;
          }
          const { code, what } = rows.failure;
          if (code !== 'forbidden' && code !== 'not_found' && code !== 'bad_rows') return rows;
          found.push({ table, right, granted: false, how: `${what}.` });
        }
        return done(found);
      });
    },
    clockAheadMs: transport.clockAheadMs,
    calls: transport.calls,
    close: () => outbound.close(),
  };
}
