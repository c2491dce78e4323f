import fc from 'fast-check';
import type { HttpSource } from '../../../../domain/exchange/itsm/http-sources.input.ts';
import type { Connector } from '../../../../integrations/exchange/itsm/connectors/connector.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import { nextLink } from '../../../../integrations/exchange/itsm/connectors/http/paging.ts';
import type { Received } from '../../../emulators/http.ts';
import { type Lists, startLists } from '../../../emulators/http-lists.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { allPages, expectError, partsOn, readAll } from './remote.ts';

let clock: VirtualClock;
let lists: Lists;
let remote: Connector | undefined;

beforeEach(async () => {
  clock = createVirtualClock();
  lists = await startLists({ clock });
});
afterEach(async () => {
  await remote?.close();
  remote = undefined;
  await lists.close();
});

const source = (more: Partial<HttpSource>): HttpSource => ({
  name: 'rows',
  path: 'rows',
  format: 'json',
  key: 'id',
  rows: 'items',
  ...more,
});
const open = (more: Partial<HttpSource>): Connector => {
  remote = connectHttp({
    config: { url: lists.base, auth: { kind: 'none' }, sources: [source(more)], attempts: 3 },
    ...partsOn(clock),
  });
  return remote;
};
const numbers = (from: number, count: number) =>
  Array.from({ length: Math.max(0, count) }, (_, at) => ({ id: from + at }));
const SIZE = 25;
/** A page of the list 0..24. */
const slice = (from: number, limit: number) => numbers(from, Math.min(limit, SIZE - from));
const all = numbers(0, SIZE).map(({ id }) => `rows:${id}`);
const read = async (more: Partial<HttpSource>, limit = 10, since?: string) => {
  const { records } = await readAll(open(more), 'rows', limit, since === undefined ? {} : { since });
  return records.map(({ id }) => id);
};
const bodyOf = ({ body }: Received) => JSON.parse(body);

describe('a list is read whole', () => {
  test.each([true, false])('by offset, with its number of rows: %s', async (hasTotal) => {
    lists.places.set('/rows', (query) => ({
      body: { items: slice(Number(query.get('skip')), Number(query.get('top'))), meta: { total: SIZE } },
    }));
    const paging = {
      by: 'offset',
      parameter: 'skip',
      limit_parameter: 'top',
      ...(hasTotal ? { total: 'meta.total' } : {}),
    } as const;
    expect(await read({ paging })).toEqual(all);
    expect(lists.requests.map(({ query }) => query.get('skip'))).toEqual(
      hasTotal ? ['0', '10', '20'] : ['0', '10', '20', '25'],
    );
  });

  test.each([0, 1])('by page from %s, in pages of one size', async (first) => {
    lists.places.set('/rows', (query) => {
      const size = Number(query.get('per_page'));
      return { body: { items: slice((Number(query.get('page')) - first) * size, size), pages: 4 } };
    });
    const paging = {
      by: 'page',
      parameter: 'page',
      first,
      limit_parameter: 'per_page',
      page_size: 7,
    } as const;
    lists.instead.push({ status: 504 });
    expect(await read({ paging: { ...paging, pages: 'pages' } })).toEqual(all);
    expect(lists.requests.map(({ query }) => query.get('per_page'))).toEqual(['7', '7', '7', '7', '7']);
    expect(await read({ paging })).toEqual(all);
  });

  test('by a continuation token in a header of responses and requests', async () => {
    lists.places.set('/rows', (_, { headers }) => {
      const from = Number(headers['x-continuation'] ?? 0);
      return {
        headers: from + 10 < SIZE ? { 'x-continuation': String(from + 10) } : ({} as Record<string, string>),
        body: { items: slice(from, 10) },
      };
    });
    const paging = {
      by: 'cursor',
      next_header: 'X-Continuation',
      parameter: 'x-continuation',
      parameter_in: 'header',
    } as const;
    expect(await read({ paging })).toEqual(all);
  });

  test('by Link headers with relative targets, several relations and several links', async () => {
    lists.places.set('/rows', (query) => {
      const from = Number(query.get('from') ?? 0);
      const links = [`</rows?from=0>; rel="first"; title="a, b; rel=next"`];
      if (from + 10 < SIZE) links.push(`<?from=${from + 10}>; title="x"; rel="alternate next"`);
      return { headers: { link: links.join(', ') }, body: { items: slice(from, 10) } };
    });
    expect(await read({ paging: { by: 'link' } })).toEqual(all);
  });

  test('by URLs in the body, with dots in the name of their member', async () => {
    lists.places.set('/rows', (query) => {
      const from = Number(query.get('$skiptoken') ?? 0);
      const next = from + 10 < SIZE ? `${lists.base}/rows?%24skiptoken=${from + 10}` : undefined;
      return { body: { items: slice(from, 10), '@odata.nextLink': next } };
    });
    expect(await read({ paging: { by: 'link', next: '@odata.nextLink' } })).toEqual(all);
  });

  test('by POST, with parameters of paging in the body', async () => {
    lists.places.set('/rows', (_, received) => {
      const { page, sort } = bodyOf(received);
      expect([received.method, sort, page.kind]).toEqual(['POST', 'id', 'deep']);
      const from = Number(page.after ?? 0);
      return {
        body: { items: slice(from, page.size), next: from + page.size < SIZE ? from + page.size : null },
      };
    });
    const paging = {
      by: 'cursor',
      next: 'next',
      parameter: 'page.after',
      limit_parameter: 'page.size',
    } as const;
    expect(await read({ body: { sort: 'id', page: { kind: 'deep' } }, paging })).toEqual(all);
  });

  test('by GraphQL with pageInfo, since a time', async () => {
    lists.places.set('/rows', (_, received) => {
      const { query, variables } = bodyOf(received);
      expect(query).toContain('repositories');
      const from = Number(variables.after ?? 0);
      const nodes = slice(from, variables.first);
      const pageInfo = { hasNextPage: from + 10 < SIZE, endCursor: String(from + 10) };
      return {
        body: { data: { repositories: { nodes: variables.since ? nodes.slice(0, 1) : nodes, pageInfo } } },
      };
    });
    const graphql = {
      query: 'query($first: Int!) { repositories { nodes { id } } }',
      variables: { owner: 'x' },
    };
    const paging = {
      by: 'cursor',
      next: 'data.repositories.pageInfo.endCursor',
      more: 'data.repositories.pageInfo.hasNextPage',
      parameter: 'after',
      limit_parameter: 'first',
      since_parameter: 'since',
      since_value: 'updated:>{since_date}',
    } as const;
    const rows = 'data.repositories.nodes';
    expect(await read({ graphql, rows, paging })).toEqual(all);
    expect(await read({ graphql, rows, paging }, 10, '2026-01-05T00:00:00.000Z')).toEqual([
      'rows:0',
      'rows:10',
      'rows:20',
    ]);
  });
});

describe('GraphQL', () => {
  const graphql = { query: '{ a }' };
  test.each([
    [
      { data: { items: numbers(0, 3) }, errors: [{ message: 'no access to one' }] },
      'refused',
      'no access to one',
    ],
    [{ errors: [{ message: 'x', type: 'RATE_LIMITED' }] }, 'rate_limited', ''],
    [{ data: null }, 'bad_rows', 'no list'],
    [{ data: { items: null }, errors: [] }, 'bad_rows', 'no list'],
  ])('that answers %j is not read', async (body, code, words) => {
    lists.places.set('/rows', () => ({ body }));
    const request = { table: 'rows', fields: [], limit: 9, cursor: null };
    await expectError(open({ graphql, rows: 'data.items' }).readPage(request), code, words);
  });
});

describe('paging that does not end', () => {
  const cursor = { by: 'cursor', next: 'next', parameter: 'cursor' } as const;
  const readToEnd = (more: Partial<HttpSource>) => readAll(open(more), 'rows', 5);

  test('is detected in cycles of any length', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(12), fc.integer({ min: 1, max: 12 }), async (start, length) => {
        let count = 0;
        lists.places.set('/rows', (query) => {
          count += 1;
          const at = Number(query.get('cursor') ?? 0);
          return {
            body: { items: [{ id: at }], next: at + 1 < start + length ? at + 1 : Math.max(start, 1) },
          };
        });
        await expectError(readToEnd({ paging: cursor }), 'paging_ignored', 'makes no progress');
        expect(count).toBeLessThan(4 * (start + length) + 4);
        await remote!.close();
        remote = undefined;
      }),
      { numRuns: 30 },
    );
  });

  test.each([[{ by: 'offset', parameter: 'skip' }], [{ by: 'page', parameter: 'page' }]] as const)(
    'is detected if the server ignores the parameter of %j',
    async (paging) => {
      lists.places.set('/rows', () => ({ body: { items: numbers(0, 5) } }));
      await expectError(readToEnd({ paging }), 'paging_ignored', 'makes no progress');
    },
  );

  test('is bounded by a number of pages', async () => {
    let at = 0;
    lists.places.set('/rows', () => ({ body: { items: [{ id: at++ }], next: `c${at}` } }));
    await expectError(
      readToEnd({ paging: { ...cursor, max_pages: 7 } }),
      'paging_ignored',
      'more than 7 pages',
    );
    expect(at).toBe(7);
  });

  test('with an empty page before the end is not a whole list', async () => {
    lists.places.set('/rows', (query) => ({
      body: { items: query.get('skip') === '0' ? numbers(0, 5) : [], total: 9 },
    }));
    const paging = { by: 'offset', parameter: 'skip', total: 'total' } as const;
    await expectError(readToEnd({ paging }), 'incomplete_response', 'before the end');
  });

  test.each(['https://example.com/rows?x=1', '//example.com/rows', 'http://127.0.0.1:1/rows', 'https://['])(
    'on another server is refused: %s',
    async (next) => {
      lists.places.set('/rows', () => ({ body: { items: numbers(0, 5), next } }));
      await expectError(readToEnd({ paging: { by: 'link', next: 'next' } }), 'refused', 'another server');
    },
  );
});

test.each([
  ['', null],
  ['<a>; rel="next"', 'a'],
  ['<a>; rel=next', 'a'],
  ['<a>; rel="prev", <b>; rel="next"', 'b'],
  ['<a,b>; title="x, <c>; rel=next"; rel="last", <d>;rel="NEXT"', 'd'],
  ['<a>; rel="next-archive"', null],
  ['<a>; rev="next"', null],
  ['<a>; rel="prev"; rel="next"', null],
])('the next link of %j is %j', (header, link) => {
  expect(nextLink(header)).toBe(link);
});

describe('nested lists', () => {
  test('are rows with the columns of their parent', async () => {
    lists.places.set('/rows', () => ({
      body: {
        items: [
          { id: 1, name: 'one', parts: [{ no: 'a', size: 2 }, { no: 'b' }] },
          { id: 2, name: 'two', parts: [] },
          { id: 3, name: 'three' },
          { id: 4, name: 'four', parts: ['x', 'y'] },
        ],
      },
    }));
    const connector = open({ expand: { rows: 'parts', key: 'no' } });
    const { records } = await readAll(connector, 'rows', 10, {
      fields: ['name', 'parts.no', 'parts.size', 'parts'],
    });
    expect(
      records.map(({ id, fields: { name, 'parts.no': no, 'parts.size': size } }) => [
        id,
        name?.value,
        no?.value,
        size?.value,
      ]),
    ).toEqual([
      ['rows:1/a', 'one', 'a', 2],
      ['rows:1/b', 'one', 'b', undefined],
      ['rows:4/x', 'four', undefined, undefined],
      ['rows:4/y', 'four', undefined, undefined],
    ]);
    const columns = (await connector.describeFields('rows')).map(({ name }) => name);
    expect(columns).toEqual(expect.arrayContaining(['id', 'name', 'parts.no', 'parts.size']));
    lists.places.set('/rows', () => ({ body: { items: [{ id: 1, parts: [{ size: 1 }] }] } }));
    await expectError(readAll(connector, 'rows', 10), 'bad_rows', 'an item of parts without a key (no)');
  });

  test('are texts of all their items, or values of one; names may contain dots', async () => {
    lists.places.set('/rows', () => ({
      body: {
        items: [
          {
            id: 1,
            licences: [{ licence: { id: 'MIT' } }, { licence: { id: 'A;B' } }, {}],
            annotations: { 'example.com/owner': { team: 'x' } },
          },
        ],
      },
    }));
    const connector = open({});
    const fields = ['licences.licence.id', 'licences.0.licence.id', 'annotations.example.com/owner.team'];
    const { records } = await readAll(connector, 'rows', 10, { fields });
    expect(Object.values(records[0]!.fields).map(({ value }) => value)).toEqual(['MIT;A\\;B', 'MIT', 'x']);
    expect((await connector.describeFields('rows')).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['licences.licence.id', 'annotations.example.com/owner.team']),
    );
  });
});

describe('a delta', () => {
  const delta = { next: '@delta', removed: '@removed' };
  const paging = { by: 'link', next: '@next', is_stable: true } as const;
  const serve = (pages: Record<string, object>) =>
    lists.places.set('/rows', (query) => ({ body: pages[query.get('at') ?? ''] ?? {} }));
  const readDelta = (connector: Connector, token: string) =>
    allPages((cursor) =>
      connector.readSince({
        table: 'rows',
        fields: ['name'],
        limit: 5,
        cursor,
        token,
        since: '2026-01-01T00:00:00.000Z',
      }),
    );

  test('starts at the link of the last page, and reports deletions', async () => {
    serve({
      '': { items: numbers(0, 2), '@next': '?at=2' },
      '2': { items: numbers(2, 2), '@delta': `${lists.base}/rows?at=d1` },
      d1: {
        items: [
          { id: 1, '@removed': { reason: 'deleted' } },
          { id: 2, name: 'new' },
        ],
        '@next': '?at=d2',
      },
      d2: { items: [{ id: 3 }, { id: 3, '@removed': {} }], '@delta': '?at=d3' },
    });
    const connector = open({ delta, paging });
    const pages = await allPages((cursor) =>
      connector.readPage({ table: 'rows', fields: [], limit: 5, cursor }),
    );
    const token = pages.at(-1)!.deltaToken!;
    const changed = await readDelta(connector, token);
    expect(changed.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(['rows:2']);
    expect(changed.flatMap(({ removed = [] }) => removed.map(({ id }) => id))).toEqual(['rows:1', 'rows:3']);
    expect(changed.map(({ deltaToken }) => deltaToken !== undefined)).toEqual([false, true]);
    // a request that was changed since needs all rows
    const other = open({ delta, paging, path: 'rows?select=x' });
    await expectError(readDelta(other, token), 'resync_needed', 'was changed');
    await connector.close();
  });

  test('is a token with its own parameter; deletions may be a value', async () => {
    lists.places.set('/rows', (query) => ({
      body: query.has('sync')
        ? {
            items: [
              { id: 1, status: 'cancelled' },
              { id: 2, status: 'ok' },
            ],
            token: 't2',
          }
        : { items: numbers(0, 3), token: 't1' },
    }));
    const connector = open({
      delta: { next: 'token', parameter: 'sync', removed: 'status', removed_value: 'cancelled' },
      paging: { by: 'cursor', next: 'page', parameter: 'page' },
    });
    const { deltaToken } = await connector.readPage({ table: 'rows', fields: [], limit: 5, cursor: null });
    const [page] = await readDelta(connector, deltaToken!);
    expect([page!.records.length, page!.removed!.length]).toEqual([1, 1]);
    expect(lists.requests.at(-1)!.query.get('sync')).toBe('t1');
    lists.instead.push({ status: 410, body: { error: { code: 'syncStateNotFound' } } });
    await expectError(readDelta(connector, deltaToken!), 'resync_needed', 'delta token');
  });
});
