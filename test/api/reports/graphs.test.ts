// @redis

import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { command } from '../../../domain/kernel/command.ts';
import { query } from '../../../platform/database.ts';
import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';
import { type StoredRelation, storeInventory } from '../../support/inventory.ts';
import { readWorkbook, XLSX } from '../../support/workbook.ts';

const matrix = '/api/v1/reports/matrix';
const dependencies = '/api/v1/reports/dependencies';

const { t, member, viewer } = await openApp(['viewer', 'member']);
const noCosts = await t.holding('inventory.view', 'relations.view', 'reports.ea_dashboard');
const noRelations = await t.holding('inventory.view', 'reports.ea_dashboard');
/** By type, source and target. */
const joined: StoredRelation[] = [
  ['relAppToITC', 'Shop', 'Server', { costTotalAnnual: 5 }],
  ['relAppToITC', 'Desk', 'Server'],
  ['relAppToITC', 'Desk', 'Cloud'],
  ['relAppToITC', 'Gone', 'Cloud'],
  ['relAppToBC', 'Shop', 'Sell'],
  ['relAppToBC', 'Shop', 'Print'],
  ['relAppToBC', 'Till', 'Print'],
];
const inventory = {
  Application: {
    Shop: { attributes: { costTotalAnnual: 7, numberOfUsers: 3 } },
    Desk: {},
    Till: { parent: 'Shop' },
    Gone: { status: 'ARCHIVED' },
  },
  ITComponent: { Server: {}, Cloud: {} },
  BusinessCapability: { Sell: {}, Invoice: { parent: 'Sell' }, Print: { parent: 'Invoice' } },
};
const id = await storeInventory(t, inventory, joined);

const names = (cards: { name: string }[]) => cards.map(({ name }) => name).sort();
const nameOf = (card: string) => Object.keys(id).find((name) => id[name] === card);
const ends = (edges: { source: string; target: string }[]) =>
  edges.map(({ source, target }) => `${nameOf(source)} ${nameOf(target)}`).sort();

describe('matrix', () => {
  it('pairs the cards of two types in both directions, without archived ones', async () => {
    const body = await ok(viewer.get(matrix));
    expect(names(body.rows)).toEqual(['Desk', 'Shop', 'Till']);
    expect(names(body.columns)).toEqual(['Invoice', 'Print', 'Sell']);
    const parents = Object.fromEntries(
      [...body.rows, ...body.columns].map((line) => [line.name, line.parent_id]),
    );
    expect([parents.Till, parents.Print, parents.Sell]).toEqual([id.Shop, id.Invoice, null]);
    const pairs = body.intersections.map((pair: { row_id: string; col_id: string }) => [
      nameOf(pair.row_id),
      nameOf(pair.col_id),
    ]);
    expect(pairs.sort()).toEqual([
      ['Shop', 'Print'],
      ['Shop', 'Sell'],
      ['Till', 'Print'],
    ]);
    const turned = await viewer.get(`${matrix}?row_type=ITComponent&col_type=Application`);
    expect(turned.body.intersections).toHaveLength(3);
  });

  it('narrows its rows, and gives the same as CSV', async () => {
    const filter = encodeURIComponent('name = "Till"');
    const csv = await viewer.get(`${matrix}?filter=${filter}`, { accept: 'text/csv' });
    expect(parse(csv.text, { columns: true })).toEqual([
      { row_id: id.Till, row: 'Till', col_id: id.Print, column: 'Print' },
    ]);
  });

  it('refuses unknown types, and those who may not see relations', async () => {
    expect((await viewer.get(`${matrix}?row_type=Nothing`)).body.errors[0].field).toBe('row_type');
    await expectProblem(noRelations.get(matrix), 403, 'relations.view');
  });
});

/** The nodes and edges on all pages. */
async function allOf(url: string) {
  const all: Record<'nodes' | 'edges', Record<string, unknown>[]> = { nodes: [], edges: [] };
  for (let cursor = ''; cursor !== null; ) {
    const page = await ok(viewer.get(`${url}${url.includes('?') ? '&' : '?'}cursor=${cursor}`));
    all.nodes.push(...page.nodes);
    all.edges.push(...page.edges);
    cursor = page.next_cursor;
  }
  return all;
}

describe('dependencies', () => {
  it('streams the whole graph: visible cards and the relations among them', async () => {
    const { status, body, headers } = await viewer.get(dependencies);
    expect(status).toBe(200);
    expect(names(body.nodes)).toEqual(
      Object.keys(id)
        .filter((name) => name !== 'Gone')
        .sort(),
    );
    expect(ends(body.edges)).toEqual(
      joined
        .filter(([, source]) => source !== 'Gone')
        .map(([, source, target]) => `${source} ${target}`)
        .sort(),
    );
    const print = body.nodes.find((node: { id: string }) => node.id === id.Print);
    expect([print.path, print.parent_id]).toEqual([['Sell', 'Invoice'], id.Invoice]);
    expect(body.edges.find((edge: { target: string }) => edge.target === id.Cloud)).toMatchObject({
      type: 'relAppToITC',
      label: 'uses',
      reverse_label: 'is used by',
      attributes: {},
    });
    expect(body.position).toMatch(/^[0-9]+$/);
    await ok(viewer.get(dependencies, { 'if-none-match': headers.etag! }), 304);
  });

  it('shows what lies within some hops of a card, and one type with its neighbours', async () => {
    const around = async (query: string) => (await viewer.get(`${dependencies}?${query}`)).body;
    const one = await around(`center_id=${id.Cloud}&depth=1`);
    expect([names(one.nodes), ends(one.edges)]).toEqual([['Cloud', 'Desk'], ['Desk Cloud']]);
    expect(names((await around(`center_id=${id.Cloud}`)).nodes)).toEqual(['Cloud', 'Desk', 'Server']);
    const shop = await around(`center_id=${id.Shop}&depth=1`);
    const paths = shop.nodes.map((node: { name: string; path: string[] }) => [node.name, ...node.path]);
    expect(paths.sort()).toEqual([['Print', 'Sell', 'Invoice'], ['Sell'], ['Server'], ['Shop']]);
    const three = await around(`center_id=${id.Cloud}&depth=3`);
    expect(names(three.nodes)).toEqual(['Cloud', 'Desk', 'Server', 'Shop']);
    const capabilities = await around('type=BusinessCapability');
    expect(names(capabilities.nodes)).toEqual(['Invoice', 'Print', 'Sell', 'Shop', 'Till']);
    expect(capabilities.edges).toHaveLength(3);
    const narrowed = await around(
      `center_id=${id.Cloud}&depth=3&filter=${encodeURIComponent('name != Desk')}`,
    );
    expect(names(narrowed.nodes)).toEqual(['Cloud']);
    const typed = await around(`center_id=${id.Cloud}&depth=3&type=ITComponent`);
    expect(names(typed.nodes)).toEqual(['Cloud', 'Desk', 'Server', 'Shop']);
  });

  it('gives the same as CSV and as a workbook, streamed or not', async () => {
    for (const query of ['', `?center_id=${id.Cloud}&depth=3`]) {
      const { body } = await viewer.get(`${dependencies}${query}`);
      const edges = await viewer.get(`${dependencies}${query}`, { accept: 'text/csv' });
      expect(parse(edges.text, { columns: true })).toHaveLength(body.edges.length);
      const table = `${query === '' ? '?' : `${query}&`}table=nodes`;
      const nodes = await viewer.get(`${dependencies}${table}`, { accept: 'text/csv' });
      expect(names(parse(nodes.text, { columns: true }))).toEqual(names(body.nodes));
      const book = await readWorkbook((await viewer.get(`${dependencies}${query}`, { accept: XLSX })).raw);
      expect(book.worksheets.map(({ name, rowCount }) => [name, rowCount - 1])).toEqual([
        ['edges', body.edges.length],
        ['nodes', body.nodes.length],
      ]);
    }
    await expectProblem(viewer.get(`${dependencies}?table=none`, { accept: 'text/csv' }), 422);
  });

  it('cuts costs of cards and relations from those who may not see them', async () => {
    for (const query of ['', `?center_id=${id.Shop}`]) {
      const read = async (client: TestClient) => {
        const { body } = await client.get(`${dependencies}${query}`);
        const node = body.nodes.find((one: { id: string }) => one.id === id.Shop);
        const edge = body.edges.find(
          (one: { source: string; target: string }) => one.source === id.Shop && one.target === id.Server,
        );
        return [node.attributes, edge.attributes];
      };
      expect(await read(member)).toEqual([{ costTotalAnnual: 7, numberOfUsers: 3 }, { costTotalAnnual: 5 }]);
      expect(await read(noCosts)).toEqual([{ numberOfUsers: 3 }, {}]);
    }
  });

  it('refuses what it does not know, and those who may not see relations', async () => {
    await expectProblem(viewer.get(`${dependencies}?center_id=${randomUUID()}`), 404);
    await expectProblem(viewer.get(`${dependencies}?center_id=${id.Gone}`), 404);
    await expectProblem(viewer.get(`${dependencies}?center_id=x`), 422);
    await expectProblem(viewer.get(`${dependencies}?depth=4`), 422);
    await expectProblem(viewer.get(`${dependencies}?type=Nothing`), 422);
    await expectProblem(noRelations.get(dependencies), 403, 'relations.view');
  });

  it('shows relations as they were', async () => {
    await ok(member.patch(`/api/v1/cards/${id.Till}`, { alias: 'Checkout' }));
    const before = new Date().toISOString();
    const body = { type: 'relAppToBC', source_id: id.Desk, target_id: id.Invoice };
    await member.create('/api/v1/relations', body);
    for (const query of ['?', `?center_id=${id.Desk}&depth=3&`]) {
      const now = await member.get(`${dependencies}${query}`);
      const past = await member.get(`${dependencies}${query}as_of=${before}`);
      expect(ends(now.body.edges)).toContain('Desk Invoice');
      expect([past.status, ends(past.body.edges).includes('Desk Invoice')]).toEqual([200, false]);
    }
    const past = await member.get(`${matrix}?as_of=${before}`);
    expect([past.status, past.body.intersections.length]).toEqual([200, 3]);
    expect((await member.get(matrix)).body.intersections).toHaveLength(4);
  });

  it('tells of a card with thousands of neighbours what the whole graph tells', async () => {
    await command(await t.ctx(), async ({ sql, raise }) => {
      const rows = await query(sql).rows`
        with hub as (insert into cards (type, name) values ('ITComponent', 'Hub') returning id),
        users as (insert into cards (type, name, parent_id)
          select 'Application', 'User ' || n, ${id.Shop!} from generate_series(1, 5100) n returning id),
        joined as (insert into relations (source_id, target_id, type)
          select users.id, hub.id, 'relAppToITC' from users, hub)
        select id from hub`;
      id.Hub = rows[0].id;
      for (const topic of ['cards:Application', 'cards:ITComponent', 'relations:relAppToITC']) raise(topic);
    });
    type Item = Record<string, unknown>;
    const texts = (items: Item[]) => items.map((item) => JSON.stringify(item)).sort();
    const whole = await allOf(dependencies);
    const near = new Set<unknown>([id.Hub]);
    const edges = whole.edges.filter(({ source, target }: Item) => source === id.Hub || target === id.Hub);
    for (const { source } of edges) near.add(source);
    expect(near.size).toBe(5101);
    for (const query of ['', '&type=ITComponent']) {
      const body = await allOf(`${dependencies}?center_id=${id.Hub}&depth=1${query}`);
      expect(texts(body.nodes)).toEqual(
        texts(whole.nodes.filter((node: Item) => near.has(node.id as string))),
      );
      expect(texts(body.edges)).toEqual(texts(edges));
    }
  });
});
