import { openApp } from '../../support/harness.ts';

const { admin, member } = await openApp(['admin', 'member']);

type Item = { id: string };
const card = async (type: string, name: string, more: object = {}): Promise<Item> =>
  await admin.card({ type, name, ...more });
const relate = async (type: string, source: Item, target: Item, more: object = {}) => {
  const body = { type, source_id: source.id, target_id: target.id, ...more };
  expect((await admin.post('/api/v1/relations', body)).status).toBe(201);
};

// an ERP with a module, on a database, that supports a capability and feeds a reporting application by an interface
const erp = await card('Application', 'ERP');
const module = await card('Application', 'Ledger', { parent_id: erp.id });
const reporting = await card('Application', 'Reporting');
const feed = await card('Interface', 'Feed');
const database = await card('ITComponent', 'Database');
const capability = await card('BusinessCapability', 'Accounting');
const unit = await card('Organization', 'Finance');
const initiative = await card('Initiative', 'Renewal');
const alone = await card('Application', 'Alone');
await relate('relAppToITC', module, database);
await relate('relAppToBC', erp, capability);
await relate('relOrgToApp', unit, erp);
await relate('relInitiativeToApp', initiative, erp);
await relate('relAppToInterface', erp, feed, { attributes: { flowDirection: 'forward' } });
await relate('relAppToInterface', reporting, feed, { attributes: { flowDirection: 'reverse' } });

describe('the impact of a card', () => {
  const impact = async (of: Item, query = '') =>
    (await member.get(`/api/v1/cards/${of.id}/impact${query}`)).body;
  const names = ({ items }: { items: { name: string; distance: number }[] }) =>
    Object.fromEntries(items.map(({ name, distance }) => [name, distance]));

  it('follows relations in the direction of dependence, with the cards below', async () => {
    expect(names(await impact(database))).toEqual({ Ledger: 1 });
    const whole = await impact(erp);
    expect(names(whole)).toEqual({ Accounting: 1, Finance: 1, Feed: 1, Reporting: 2 });
    expect(whole).toMatchObject({
      switched_off: [{ name: 'ERP' }, { name: 'Ledger' }],
      counts: { Application: { direct: 0, all: 1 }, Interface: { direct: 1, all: 1 } },
      total: 4,
      complete: true,
    });
    expect(whole.items.at(-1)).toMatchObject({ via_id: feed.id, relation_type_key: 'relAppToInterface' });
    expect(names(await impact(erp, '?depth=1'))).not.toHaveProperty('Reporting');
    expect((await impact(erp, '?include_children=false')).switched_off).toHaveLength(1);
    expect(names(await impact(reporting))).toEqual({});
    expect((await impact(erp, '?page_size=1')).items).toHaveLength(1);
  });
});

describe('the paths between two cards', () => {
  const paths = (from: Item, to: Item, query = '') =>
    member.get(`/api/v1/cards/${from.id}/paths?to=${to.id}${query}`);

  it('are the shortest ones, in either direction of relations', async () => {
    const { body } = await paths(capability, reporting);
    expect(body).toMatchObject({ length: 3, complete: true });
    const [path] = body.paths as { source_id: string; target_id: string }[][];
    expect(path!.map(({ source_id, target_id }) => [source_id, target_id])).toEqual([
      [erp.id, capability.id],
      [erp.id, feed.id],
      [reporting.id, feed.id],
    ]);
    expect(body.cards.map(({ name }: { name: string }) => name).sort()).toEqual([
      'Accounting',
      'ERP',
      'Feed',
      'Reporting',
    ]);
  });

  it('are all of one length, as many as are wanted', async () => {
    const others = await Promise.all(['A', 'B', 'C'].map((name) => card('ITComponent', `Between ${name}`)));
    for (const other of others) {
      await relate('relAppToITC', erp, other);
      await relate('relAppToITC', alone, other);
    }
    const { body } = await paths(erp, alone);
    expect([body.length, body.paths.length]).toEqual([2, 3]);
    expect((await paths(erp, alone, '&limit=2')).body.paths).toHaveLength(2);
    expect((await paths(erp, alone, '&length=1')).body).toMatchObject({
      length: null,
      paths: [],
      complete: true,
    });
    expect((await paths(erp, erp)).body).toMatchObject({ length: 0, paths: [[]] });
    const nobody = { id: '00000000-0000-4000-8000-000000000000' };
    expect((await paths(erp, nobody)).status).toBe(404);
  });
});

describe('the dependencies report', () => {
  const read = async (query: string) =>
    (await member.get(`/api/v1/reports/dependencies?center_id=${erp.id}&${query}`)).body;

  it('has the requested members only', async () => {
    const { nodes, edges } = await read('depth=1&fields=parent_id,attributes.businessCriticality');
    expect(Object.keys(nodes[0]).sort()).toEqual(['attributes', 'id', 'name', 'parent_id', 'type']);
    expect(Object.keys(edges[0]).sort()).toEqual(['source', 'target', 'type']);
    expect(Object.keys((await read('depth=1&fields=')).nodes[0]).sort()).toEqual(['id', 'name', 'type']);
    const refused = await member.get('/api/v1/reports/dependencies?fields=nope');
    expect(refused.body.errors).toMatchObject([{ field: 'fields', code: 'unknown_field' }]);
  });

  it('rolls relations of the cards below up to the center', async () => {
    const { nodes, edges } = await read('depth=1&roll_up=true&fields=');
    const ids = nodes.map(({ id }: Item) => id);
    expect(ids).toContain(database.id);
    expect(ids).not.toContain(module.id);
    expect(edges).toContainEqual({
      source: erp.id,
      target: database.id,
      type: 'relAppToITC',
      via_id: module.id,
    });
  });

  it('leaves out and counts related cards of a type beyond a bound', async () => {
    const { nodes, bundles, edges } = await read('depth=1&roll_up=true&bundle=3&fields=');
    expect(bundles).toEqual([{ card_id: erp.id, type: 'ITComponent', count: 4 }]);
    expect(nodes.some(({ type }: { type: string }) => type === 'ITComponent')).toBe(false);
    expect(edges.every(({ type }: { type: string }) => type !== 'relAppToITC')).toBe(true);
    expect((await read('depth=1&roll_up=true&bundle=4&fields=')).bundles).toEqual([]);
  });
});
