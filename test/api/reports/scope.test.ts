import { randomUUID } from 'node:crypto';
import { expectInvalid, ok, openApp, pluck } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const at = (path: string) => `/api/v1/reports/${path}`;
const { t, admin } = await openApp(['admin']);
const noRelations = await t.holding('inventory.view', 'reports.ea_dashboard');
const ids = await storeInventory(
  t,
  {
    BusinessCapability: {
      Sales: {},
      Selling: { parent: 'Sales' },
      Finance: {},
      Billing: { parent: 'Finance' },
    },
    Application: {
      crm: { lifecycle: { active: '2024-01-01' }, attributes: { costTotalAnnual: 3 } },
      shop: { lifecycle: { active: '2024-01-01' }, attributes: { costTotalAnnual: 5 } },
      'shop desk': { parent: 'shop', lifecycle: { active: '2024-01-01' } },
      ledger: { lifecycle: { active: '2024-01-01' } },
    },
    BusinessProcess: { Order: {}, Invoice: {} },
  },
  [
    ['relAppToBC', 'crm', 'Sales'],
    ['relAppToBC', 'crm', 'Selling'],
    ['relAppToBC', 'shop', 'Selling'],
    ['relAppToBC', 'shop desk', 'Billing'],
    ['relAppToBC', 'ledger', 'Billing'],
    ['relProcessToBC', 'Order', 'Selling'],
    ['relProcessToBC', 'Invoice', 'Billing'],
  ],
);
const names = async (path: string, client = admin) =>
  pluck((await ok(client.get(at(path)))).items, 'name').sort();

describe('the scope of a report', () => {
  it('is a card with all below it', async () => {
    expect(await names(`roadmap?scope=${ids.shop}`)).toEqual(['shop', 'shop desk']);
    expect(await names(`roadmap?scope=${ids['shop desk']}`)).toEqual(['shop desk']);
    expect(await names(`cost?scope=${ids.shop}`)).toEqual(['shop']);
  });

  it('has the cards of other types that are related to one of these', async () => {
    expect(await names(`roadmap?type=Application&scope=${ids.Sales}`)).toEqual(['crm', 'shop']);
    expect(await names(`roadmap?type=Application&scope=${ids.Sales}`, noRelations)).toEqual([]);
    expect((await ok(admin.get(at(`cost?scope=${ids.Sales}`)))).total).toBe(8);
  });

  it('narrows related cards and groups of its type', async () => {
    const heatmap = await ok(admin.get(at(`capability-heatmap?scope=${ids.Sales}`)));
    expect(pluck(heatmap.items, 'name', 'app_count')).toEqual([
      ['Sales', 1],
      ['Selling', 2],
    ]);
    const landscape = await ok(admin.get(at(`landscape?scope=${ids.Sales}`)));
    expect(pluck(landscape.groups, 'name', 'item_count')).toEqual([
      ['Sales', 1],
      ['Selling', 2],
    ]);
  });

  it('applies with a filter, to files, pictures and the past', async () => {
    const filter = encodeURIComponent('name = "crm"');
    expect(await names(`roadmap?scope=${ids.Sales}&filter=${filter}`)).toEqual(['crm']);
    const csv = await admin.get(at(`cost?scope=${ids.shop}`), { accept: 'text/csv' });
    expect(csv.text).toBe(`id,name,cost\r\n${ids.shop},shop,5\r\n`);
    await ok(admin.get(at(`cost?scope=${ids.shop}`), { accept: 'image/svg+xml' }));
    await ok(admin.patch(`/api/v1/cards/${ids.crm}`, { alias: 'first event' }));
    const before = new Date().toISOString();
    await ok(admin.patch(`/api/v1/cards/${ids['shop desk']}`, { parent_id: null }));
    expect(await names(`roadmap?scope=${ids.shop}`)).toEqual(['shop']);
    expect(await names(`roadmap?scope=${ids.shop}&as_of=${before}`)).toEqual(['shop', 'shop desk']);
    await ok(admin.patch(`/api/v1/cards/${ids['shop desk']}`, { parent_id: ids.shop }));
  });

  it('is a card that the caller can see', async () => {
    for (const scope of [randomUUID(), 'x'])
      await expectInvalid(admin.get(at(`roadmap?scope=${scope}`)), 'scope');
  });
});

describe('roll_up', () => {
  it('counts a card in the groups above its group, once', async () => {
    const { groups, ungrouped, row_count } = await ok(admin.get(at('landscape?roll_up=true')));
    expect(pluck(groups, 'name', 'item_count')).toEqual([
      ['Billing', 2],
      ['Finance', 2],
      ['Sales', 2],
      ['Selling', 2],
    ]);
    expect([ungrouped, row_count]).toEqual([[], 8]);
  });

  it('counts pairs of a matrix for the cards above both', async () => {
    const { rows, columns, intersections } = await ok(admin.get(at('matrix?roll_up=true')));
    const name = Object.fromEntries(
      [...rows, ...columns].map((line: Record<string, string>) => [line.id!, line.name!]),
    );
    const pairs = intersections
      .map((pair: Record<string, string>) => `${name[pair.row_id!]} ${name[pair.col_id!]}`)
      .sort();
    expect(pairs).toEqual([
      'crm Sales',
      'crm Selling',
      'ledger Billing',
      'ledger Finance',
      'shop Billing',
      'shop Finance',
      'shop Sales',
      'shop Selling',
      'shop desk Billing',
      'shop desk Finance',
    ]);
  });

  it('counts processes for the capabilities above', async () => {
    const { items } = await ok(admin.get(at('bpm/capability-heatmap?roll_up=true')));
    expect(pluck(items, 'name', 'metric_value')).toEqual([
      ['Billing', 1],
      ['Finance', 1],
      ['Sales', 1],
      ['Selling', 1],
    ]);
  });
});
