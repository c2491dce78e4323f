import type { HttpSource, SourcePaging } from '../../../../domain/exchange/itsm/http-sources.input.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import { type Lists, startLists } from '../../../emulators/http-lists.ts';
import { createVirtualClock, type VirtualClock } from '../../../emulators/virtual-clock.ts';
import { expectError, partsOn, readAll } from './remote.ts';

let clock: VirtualClock;
let lists: Lists;

beforeEach(async () => {
  clock = createVirtualClock();
  lists = await startLists({ clock });
});
afterEach(() => lists.close());

const source: HttpSource = { name: 'rows', path: 'rows', format: 'json', key: 'id', rows: 'items' };
const connect = (more: Partial<HttpSource>) =>
  connectHttp({
    config: { url: lists.base, auth: { kind: 'none' }, sources: [{ ...source, ...more }], attempts: 3 },
    ...partsOn(clock),
  });
const items = [{ id: 1 }, { id: 2 }];

/** Requires that the list is refused as a part of one. */
async function expectPart(more: Partial<HttpSource>, code: string, words: string): Promise<void> {
  const remote = connect(more);
  await expectError(readAll(remote, 'rows', 5), code, words);
  await remote.close();
}

const files = { csv: 'id\n1\n2\n', ndjson: '{"id": 1}\n{"id": 2}\n', json: JSON.stringify({ items }) };

test.each(
  ([201, 203, 206, 207] as const).flatMap((status) =>
    (['csv', 'ndjson', 'json'] as const).map((format) => [status, format] as const),
  ),
)('rows with the status %i are no whole %s', async (status, format) => {
  const headers = { 'content-range': 'items 0-1/6' };
  lists.instead.push({ status, headers, body: files[format] });
  await expectPart(format === 'json' ? {} : { rows: undefined!, format }, 'unexpected_response', `${status}`);
  expect(lists.requests).toHaveLength(1);
});

test('no rows with the status 204 are no empty list', async () => {
  lists.places.set('/rows', () => ({ status: 204, body: undefined }));
  await expectPart({}, 'unexpected_response', '204');
});

const cursor = { by: 'cursor', next: 'next', more: 'more', parameter: 'after' } as const;
const link = { by: 'link', next: 'next' } as const;
const offset = { by: 'offset', parameter: 'skip', total: 'total' } as const;
const page = { by: 'page', parameter: 'page', pages: 'total' } as const;

test.each<[SourcePaging, object, string]>([
  [cursor, { next: null, more: true }, 'without the cursor'],
  [cursor, { next: '', more: true }, 'without the cursor'],
  [cursor, { more: 1 }, 'without the cursor'],
  [{ ...cursor, next: undefined!, next_header: 'x-next' }, { more: true }, 'without the cursor'],
  [cursor, { next: { cursor: 'a' }, more: true }, 'no cursor'],
  [cursor, { next: ['a'] }, 'no cursor'],
  [cursor, { next: true }, 'no cursor'],
  [cursor, { next: false }, 'no cursor'],
  [link, { next: { href: '/rows?p=2' } }, 'no link'],
  [link, { next: ['/rows?p=2'] }, 'no link'],
  [link, { next: false }, 'no link'],
  [link, { next: 2 }, 'no link'],
  [offset, { total: -1 }, 'number of all'],
  [offset, { total: 2.5 }, 'number of all'],
  [offset, { total: 0 }, 'number of all'],
  [offset, { total: '' }, 'number of all'],
  [offset, { total: 'many' }, 'number of all'],
  [offset, { total: true }, 'number of all'],
  [offset, { total: { value: 6 } }, 'number of all'],
  [page, { total: -1 }, 'number of all'],
  [page, { total: 0 }, 'number of all'],
  [page, { total: [] }, 'number of all'],
])('a page by %j with %j is not the last one', async (paging, more, words) => {
  lists.places.set('/rows', () => ({ body: { items, ...more } }));
  await expectPart({ paging }, 'bad_rows', words);
});

test.each<[SourcePaging, object, number]>([
  [cursor, { next: null }, 1],
  [cursor, { next: '', more: false }, 1],
  [cursor, { next: 'x', more: false }, 1],
  [cursor, { more: null }, 1],
  [link, { next: null }, 1],
  [link, { next: '' }, 1],
  [link, {}, 1],
  [offset, { total: 2 }, 1],
  [offset, { total: '2' }, 1],
  [offset, { total: null }, 2],
  [offset, {}, 2],
  [page, { total: 1 }, 1],
  [page, { total: null }, 2],
])('a list by %j with %j is whole after %i pages', async (paging, more, pages) => {
  lists.places.set('/rows', (query) => {
    const isFirst = ['skip', 'page'].every((name) => ['0', '1', null].includes(query.get(name)));
    return { body: { items: isFirst ? items : [], ...more } };
  });
  const remote = connect({ paging });
  expect(await readAll(remote, 'rows', 5)).toMatchObject({ pages, records: { length: 2 } });
  await remote.close();
});

test('a joined list that is read only in part is refused too', async () => {
  lists.places.set('/rows', () => ({ body: { items: [{ id: 1, site: 'a' }] } }));
  lists.places.set('/sites', () => ({ body: { items: [{ id: 'a' }], next: null, more: true } }));
  const remote = connectHttp({
    config: {
      url: lists.base,
      auth: { kind: 'none' },
      sources: [
        { ...source, join: { source: 'sites', by: 'site', as: 'place' } },
        { ...source, name: 'sites', path: 'sites', paging: cursor },
      ],
    },
    ...partsOn(clock),
  });
  await expectError(readAll(remote, 'rows', 5), 'bad_rows', 'Reading sites');
  await remote.close();
});

describe('errors beside the rows', () => {
  test.each([
    [[{ message: 'shard 3 failed' }], '1 errors beside the rows (shard 3 failed)'],
    [['one', 'two'], '2 errors beside the rows (one)'],
    [[null], '1 errors beside the rows'],
  ])('%j', async (errors, words) => {
    lists.places.set('/rows', () => ({ body: { items, errors } }));
    await expectPart({}, 'refused', words);
    await expectPart({ paging: link }, 'refused', words);
  });

  test.each([[[]], [null], [0]])('are none: %j', async (errors) => {
    lists.places.set('/rows', () => ({ body: { items, errors } }));
    const remote = connect({});
    expect((await readAll(remote, 'rows', 5)).records).toHaveLength(2);
    await remote.close();
  });

  test('may be the rows', async () => {
    lists.places.set('/rows', () => ({ body: { errors: items } }));
    const remote = connect({ rows: 'errors' });
    expect((await readAll(remote, 'rows', 5)).records).toHaveLength(2);
    await remote.close();
  });

  test('do not show the secrets of the connection', async () => {
    lists.places.set('/rows', (_, { headers }) => ({
      body: { items, errors: [{ message: `not for ${headers.authorization}` }] },
    }));
    const remote = connectHttp({
      config: { url: lists.base, auth: { kind: 'token', token: 'geheim-4711' }, sources: [source] },
      ...partsOn(clock),
    });
    await expectError(readAll(remote, 'rows', 5), 'refused', 'not for Bearer [cut]');
    await remote.close();
  });
});

describe('an unexpected response', () => {
  const connectTo = (more: Partial<HttpSource>, maxBytes: number) =>
    connectHttp({
      config: { url: lists.base, auth: { kind: 'none' }, sources: [{ ...source, ...more }], maxBytes },
      ...partsOn(clock),
    });
  const long = { items: Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(100) })) };

  test('that is too long ends the read at once with its limit, and does not stop later reads', async () => {
    lists.places.set('/rows', () => ({ body: long }));
    const remote = connectTo({}, 2_000);
    for (let n = 1; n <= 12; n += 1) {
      await expectError(readAll(remote, 'rows', 5), 'unexpected_response', 'it is longer than 2000 bytes');
      expect(lists.requests).toHaveLength(n);
    }
    await remote.close();
  });

  test('that is too long for one page is requested with fewer rows', async () => {
    lists.places.set('/rows', (query) => {
      const [from, limit] = [Number(query.get('skip') ?? 0), Number(query.get('limit'))];
      return { body: { items: long.items.slice(from, from + limit) } };
    });
    const paging = { by: 'offset', parameter: 'skip', limit_parameter: 'limit', page_size: 20 } as const;
    const remote = connectTo({ paging }, 2_000);
    expect((await readAll(remote, 'rows', 20)).records).toHaveLength(100);
    await remote.close();
  });

  test.each([
    [
      { status: 302, headers: { location: 'https://login.example.com/?token=x' } },
      'to https://login.example.com/ with',
    ],
    [
      { status: 200, body: '<!doctype html><title>Maintenance</title>' },
      'a web page instead of data (Maintenance)',
    ],
  ])('%j ends the read at once', async (answer, words) => {
    lists.instead.push(answer as Lists['instead'][number]);
    await expectPart({}, 'unexpected_response', words);
    expect(lists.requests).toHaveLength(1);
  });
});
