import type { HttpSource } from '../../../../domain/exchange/itsm/http-sources.input.ts';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import type { PlainAuth } from '../../../../integrations/exchange/itsm/connectors/transport.ts';
import { type Lists, startLists } from '../../../emulators/http-lists.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { codeOf, expectError, failure, partsOn, readAll as readPages } from './remote.ts';

let clock: VirtualClock;
let lists: Lists;
let remote: Connector;

const file: HttpSource = {
  name: 'servers',
  path: 'servers.csv',
  format: 'csv',
  key: 'id',
  references: { site: 'sites' },
};
const dated: HttpSource = { ...file, name: 'dated', updated: 'changed' };
const sites: HttpSource = { name: 'sites', path: 'sites.ndjson', format: 'ndjson', key: 'code' };
const byKey: HttpSource = {
  name: 'assets',
  label: 'All assets',
  path: 'api/assets?live=true',
  format: 'json',
  rows: 'data.items',
  key: 'id',
  updated: 'meta.changed',
  paging: { by: 'key', parameter: 'after', limit_parameter: 'limit', since_parameter: 'since' },
};
const byCursor: HttpSource = {
  ...byKey,
  label: 'Cursors',
  name: 'cursors',
  path: 'api/cursors',
  paging: { by: 'cursor', next: 'data.next', parameter: 'cursor', is_stable: true },
};
const byLink: HttpSource = {
  ...byKey,
  label: 'Linked',
  name: 'links',
  path: 'api/links',
  paging: { by: 'link' },
};

const connect = (
  auth: PlainAuth = { kind: 'none' },
  sources = [file, dated, sites, byKey, byCursor, byLink],
) => connectHttp({ config: { url: `${lists.base}/exports`, auth, sources }, ...partsOn(clock) });

const start = Date.UTC(2026, 0, 5, 7);
const csv = (names: string[]) =>
  ['id;name;site;changed', ...names.map((name, at) => `S${at};${name};fra;2026-01-05 0${at}:00:00`)].join(
    '\r\n',
  );

beforeEach(async () => {
  clock = createVirtualClock();
  lists = await startLists({ clock });
  lists.places.set('/exports/servers.csv', { body: csv(['b', 'a', 'c']), changed: start, etag: '"1"' });
  lists.places.set('/exports/sites.ndjson', {
    body: '{"code": 7, "geo": {"lat": 1.5}, "tags": ["x", "y"]}\n\n{"code": "fra", "geo": null}\n',
  });
  remote = connect();
});
afterEach(async () => {
  await remote.close();
  await lists.close();
});

const readAll = (
  table: string,
  { limit = 2, ...more }: { limit?: number } & Parameters<typeof readPages>[3] = {},
) => readPages(remote, table, limit, more);

describe('a file', () => {
  test('is fetched once and read by key, with references as ids of the other source', async () => {
    const { records, hasHiddenRows } = await readAll('servers', { fields: ['name', 'site'] });
    expect(records[0]).toEqual({
      table: 'servers',
      id: 'servers:S0',
      fields: { name: { value: 'b' }, site: { value: 'sites:fra' } },
      updatedAt: new Date(start).toISOString(),
    });
    expect([records.length, hasHiddenRows, lists.requests.length]).toEqual([3, false, 1]);
    const ids = (await readAll('servers', { filter: 'name=a&name=c' })).records.map(({ id }) => id);
    expect(ids).toEqual(['servers:S1', 'servers:S2']);
    expect(lists.requests.map(({ status }) => status)).toEqual([200, 304]);
    // another process resumes after one was killed
    const other = connect();
    const page = await other.readPage({ table: 'servers', fields: [], limit: 9, cursor: 'S0' });
    expect(page.records.map(({ id }) => id)).toEqual(['servers:S1', 'servers:S2']);
    await other.close();
  });

  test('that is unchanged is not downloaded again', async () => {
    const since = new Date(start + 120_000).toISOString();
    expect((await readAll('servers', { since })).records).toEqual([]);
    expect(lists.requests.map(({ status }) => status)).toEqual([304]);
    lists.places.set('/exports/servers.csv', { body: csv(['b', 'a', 'd']), changed: start + 90_000 });
    expect((await readAll('servers', { since })).records).toHaveLength(3);
  });

  test('may contain the time of change of each row', async () => {
    const { records } = await readAll('dated', { since: '2026-01-05T01:00:30.000Z' });
    expect(records.map(({ id, updatedAt }) => [id, updatedAt])).toEqual([
      ['dated:S1', '2026-01-05T01:00:00.000Z'],
      ['dated:S2', '2026-01-05T02:00:00.000Z'],
    ]);
  });

  test('proves that rows exist, but not that a row is gone', async () => {
    const looks = await remote.readByIds('servers', ['servers:S1', 'servers:S9', 'sites:fra'], ['name']);
    expect([...looks].map(([id, { kind }]) => [id, kind])).toEqual([
      ['servers:S1', 'there'],
      ['servers:S9', 'unknown'],
      ['sites:fra', 'unknown'],
    ]);
    expect(await remote.readDeletions('servers', '2026-01-01T00:00:00.000Z')).toEqual([]);
  });

  test('of JSON lines has nested values and lists', async () => {
    const { records } = await readAll('sites', { fields: ['geo.lat', 'tags'] });
    expect(records.map(({ id, fields }) => [id, fields])).toEqual([
      ['sites:7', { 'geo.lat': { value: 1.5 }, tags: { value: 'x;y' } }],
      ['sites:fra', { 'geo.lat': { value: null } }],
    ]);
    expect(await remote.describeFields('sites')).toMatchObject([
      { name: 'code', kind: 'text', mandatory: true },
      { name: 'geo', kind: 'text' },
      { name: 'geo.lat', kind: 'decimal' },
      { name: 'tags', kind: 'text' },
    ]);
  });

  test.each([
    ['id;name\r\nS1;a\r\nS1;b', 'ambiguous', 'two rows with the key S1'],
    ['id;name\r\n;a', 'bad_rows', 'no key (id) in line 2'],
    ['id;name\r\nS1', 'bad_rows', 'has 1 cells in line 2, and 2 columns'],
    ['id;id\r\nS1;2', 'bad_rows', 'column id twice'],
    ['name\r\na', 'bad_rows', 'no column id'],
    ['id;name\r\nS1;"a', 'bad_rows', 'not closed'],
    [Buffer.from('id;name\r\nS1;M\xfcller', 'latin1'), 'bad_rows', 'not UTF-8'],
    [Buffer.from('id;name\r\nS1;a', 'utf16le'), 'bad_rows', ''],
    ['', 'bad_rows', 'is empty'],
    ['<html><title>Log in</title></html>', 'unexpected_response', 'a web page instead of data (Log in)'],
  ])('%j is rejected completely', async (body, code, words) => {
    lists.places.set('/exports/servers.csv', { body });
    await expectError(remote.readPage({ table: 'servers', fields: [], limit: 9, cursor: null }), code, words);
  });
});

test('JSON lines that are not UTF-8 are rejected completely', async () => {
  lists.places.set('/exports/sites.ndjson', {
    body: Buffer.from('{"code":"a","name":"M\xfcller"}\n', 'latin1'),
  });
  await expectError(
    remote.readPage({ table: 'sites', fields: [], limit: 9, cursor: null }),
    'bad_rows',
    'sites is not UTF-8 text',
  );
});

describe('a list', () => {
  const rows = Array.from({ length: 7 }, (_, at) => ({
    id: `A${at}`,
    name: `asset ${at}`,
    meta: { changed: start / 1000 + at * 3600 },
  }));

  test('is paged by the key of the last row, until a page is empty', async () => {
    lists.places.set('/exports/api/assets', (query) => {
      const since = Date.parse(query.get('since') ?? '1970-01-01') / 1000;
      const beyond = rows.filter(({ id, meta }) => id > (query.get('after') ?? '') && meta.changed >= since);
      return { body: { data: { items: beyond.slice(0, Math.min(3, Number(query.get('limit')))) } } };
    });
    const { records, hasHiddenRows } = await readAll('assets', { limit: 100 });
    expect([records.map(({ id }) => id), hasHiddenRows]).toEqual([
      rows.map(({ id }) => `assets:${id}`),
      false,
    ]);
    expect(records[1]!.updatedAt).toBe('2026-01-05T08:00:00.000Z');
    expect(lists.requests.map(({ query }) => String(query))).toEqual([
      'live=true&limit=100',
      'live=true&after=A2&limit=100',
      'live=true&after=A5&limit=100',
      'live=true&after=A6&limit=100',
    ]);
    const changed = await readAll('assets', { since: '2026-01-05T11:01:00.000Z' });
    expect(changed.records.map(({ id }) => id)).toEqual(['assets:A4', 'assets:A5', 'assets:A6']);
    const looks = await remote.readByIds('assets', ['assets:A6', 'assets:A9'], ['name']);
    expect([...looks.values()].map(({ kind }) => kind)).toEqual(['there', 'unknown']);
  });

  test('is paged by cursor; by links only on its own server, where missing rows prove nothing', async () => {
    lists.places.set('/exports/api/cursors', (query) => {
      const from = Number(query.get('cursor') ?? 0);
      const next = from + 3 < rows.length ? from + 3 : null;
      return { body: { data: { items: rows.slice(from, from + 3), next } } };
    });
    const cursors = await readAll('cursors');
    expect([cursors.records.length, cursors.hasHiddenRows]).toEqual([7, false]);
    let next = '/exports/api/links?page=2';
    lists.places.set('/exports/api/links', (query) =>
      query.get('page') === '2'
        ? { body: { data: { items: rows.slice(3) } } }
        : { headers: { link: `<${next}>; rel="next"` }, body: { data: { items: rows.slice(0, 4) } } },
    );
    const links = await readAll('links');
    expect([links.records.length, links.hasHiddenRows]).toEqual([8, true]);
    next = 'https://example.com/steal';
    const request = { table: 'links', fields: [], limit: 9, cursor: null };
    expect((await failure(remote.readPage(request))).what).toContain('another server');
  });

  test('with a link to itself is not read forever', async () => {
    lists.places.set('/exports/api/cursors', () => ({ body: { data: { items: rows, next: 'again' } } }));
    const request = { table: 'cursors', fields: [], limit: 9 };
    const { next } = await remote.readPage({ ...request, cursor: null });
    await expectError(remote.readPage({ ...request, cursor: next }), 'paging_ignored');
  });

  test.each([
    [{ status: 429, headers: { 'retry-after': '3' } }, undefined],
    [{ status: 500 }, undefined],
    [{ status: 200, body: '{"data": {"items": [{"id": "A' }, undefined],
    [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' }, 'unexpected_response'],
    [{ status: 200, body: '{"data": {}}' }, 'bad_rows'],
    [{ status: 403 }, 'forbidden'],
    [{ status: 401 }, undefined],
    [{ status: 404 }, 'not_found'],
    [{ status: 302, headers: { location: '/login?next=x' } }, 'unexpected_response'],
  ])('with one response %j ends as %s', async (answer, code) => {
    lists.places.set('/exports/api/cursors', () => ({ body: { data: { items: rows } } }));
    lists.instead.push(answer as Lists['instead'][number]);
    const read = remote.readPage({ table: 'cursors', fields: [], limit: 9, cursor: null });
    expect(await codeOf(read)).toBe(code);
  });
});

test('a Retry-After date is by the clock of the remote', async () => {
  const ahead = 7_200_000;
  const at = (ms: number) => new Date(clock.now() + ahead + ms).toUTCString();
  lists.instead.push({ status: 429, headers: { date: at(0), 'retry-after': at(7_000) } });
  const before = clock.waited();
  expect((await readAll('servers')).records).toHaveLength(3);
  const waited = clock.waited() - before;
  expect(waited).toBeGreaterThan(5_000);
  expect(waited).toBeLessThan(10_000);
});

test('credentials are sent as configured, and nothing is written', async () => {
  for (const [auth, header] of [
    [{ kind: 'basic', username: 'u', password: 'p:w' }, 'Basic dTpwOnc='],
    [{ kind: 'token', token: 'abc' }, 'Bearer abc'],
    [{ kind: 'none' }, undefined],
  ] as const) {
    const other = connect(auth);
    await other.describeFields('servers');
    expect(lists.requests.at(-1)!.headers.authorization).toBe(header);
    await other.close();
  }
  const before = lists.requests.length;
  for (const write of [
    remote.create('servers', { name: 'x' }, 'plan:1'),
    remote.update('servers', 'servers:S1', { name: 'x' }),
    remote.delete('servers', 'servers:S1'),
    remote.createRelation('a', 'b', 'c'),
  ])
    await expectError(write, 'refused', 'read only');
  expect(lists.requests).toHaveLength(before);
});

test('the schema is that of the connection and of the rows', async () => {
  expect(await remote.describeTables('all')).toEqual([{ name: 'assets', label: 'All assets', parent: null }]);
  const columns = new Map((await remote.describeFields('dated')).map((one) => [one.name, one]));
  expect(columns.get('site')).toMatchObject({ kind: 'reference', reference: 'sites' });
  expect(columns.get('changed')).toMatchObject({ kind: 'datetime' });
  expect(await remote.findUnknownColumns('servers', 'name=a&nme=b')).toEqual(['nme']);
  await expectError(remote.describeFields('nothing'), 'not_found');
  const rights = await remote.testRights([
    { table: 'servers', rights: ['read', 'create'] },
    { table: 'links', rights: ['read'] },
  ]);
  expect(rights.map(({ granted }) => granted)).toEqual([true, false, false]);
});

test('a missing column clears no value: a file fails with its name, a list reports it', async () => {
  lists.places.set('/exports/servers.csv', { body: 'id,name\nS1,one\n' });
  const request = { table: 'servers', fields: ['name', 'site'], limit: 10, cursor: null };
  for (const read of [
    remote.readPage(request),
    remote.readSince({ ...request, since: '2026-01-01T00:00:00.000Z' }),
    remote.readByIds('servers', ['servers:S1'], ['site']),
  ])
    await expectError(read as Promise<never>, 'bad_rows', 'servers has no column site any more');
  lists.places.set('/exports/sites.ndjson', { body: '{"code":"a","name":"A"}\n{"code":"b","city":null}\n' });
  expect(await remote.findHiddenColumns('sites', ['name', 'city', 'gone'])).toEqual(['gone']);
});
