import { randomUUID } from 'node:crypto';
import { analysisProcessors } from '../../../workers/analysis/analysis.processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { analyse } from '../../support/analysis.ts';
import { endWaiting } from '../../support/database.ts';
import { closeAfterAll, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const root = '/api/v1/ai-analysis';

const id = new Map<string, string>();

const { t, db } = await openApp();
const workers = closeAfterAll(await startWorkers(t.services, analysisProcessors));
const [admin, member, viewer] = await t.clients('admin', 'member', 'viewer');
await fill();

async function card(type: string, name: string, more: object = {}): Promise<string> {
  const body = await admin.card({ type, name, ...more });
  id.set(name, body.id);
  return body.id;
}

async function offers(supplier: string, ...names: string[]) {
  for (const name of names) {
    const type = (await admin.get(`/api/v1/cards/${id.get(name)}`)).body.type;
    await admin.relate(
      type === 'Application' ? 'relProviderToApp' : 'relProviderToITC',
      id.get(supplier)!,
      id.get(name)!,
    );
  }
}

/** Names a supplier in an attribute of IT components that the workspace has added. */
async function fill() {
  const { body: type } = await admin.get('/api/v1/metamodel/types/ITComponent');
  await ok(
    admin.patch('/api/v1/metamodel/types/ITComponent', {
      fields_schema: [
        ...type.fields_schema,
        { section: 'Maker', fields: [{ key: 'vendorName', label: 'Vendor', type: 'text', weight: 0 }] },
      ],
    }),
  );
  await card('Provider', 'Microsoft Corporation', { attributes: { providerType: 'vendor' } });
  await card('Provider', 'Nordwind GmbH', { description: 'Policy and claims systems for insurers' });
  await card('Provider', 'Nordwind Austria GmbH');
  await card('Provider', 'Hochzeit Beratung', { attributes: { providerType: 'partner' } });
  const app = (name: string, cost: number, criticality: string) =>
    card('Application', name, { attributes: { costTotalAnnual: cost, businessCriticality: criticality } });
  await app('Policy Desk', 1_000, 'missionCritical');
  await app('Claims Desk', 500, 'businessCritical');
  await app('Claims Archive', 101, 'missionCritical');
  await app('Wiki', 50, 'administrativeService');
  const component = (name: string, cost: number, vendorName?: string) =>
    card('ITComponent', name, {
      attributes: { costTotalAnnual: cost, ...(vendorName ? { vendorName } : {}) },
    });
  await component('Microsoft SQL Server 2016', 300, 'MSFT');
  await component('Microsoft SQL Server 2019', 200, 'Microsft');
  await component('Windows Server 2022', 100, 'n/a');
  await offers('Microsoft Corporation', 'Windows Server 2022', 'Wiki');
  await offers('Nordwind GmbH', 'Policy Desk', 'Claims Desk');
  await offers('Nordwind Austria GmbH', 'Claims Desk', 'Claims Archive');
  await offers('Hochzeit Beratung', 'Claims Archive');
}

async function run(path: string) {
  const ended = await analyse(admin, `${root}/vendors/${path}`);
  expect(ended.status, ended.error_message).toBe('completed');
  return ended;
}

const listed = async (client: TestClient, path: string) =>
  (await ok(client.get(`${root}/vendors${path}`))).items;
// biome-ignore lint/suspicious/noExplicitAny: rows of several lists
const named = (items: any[], name: string) =>
  items.find((item) => (item.vendor_name ?? item.canonical_name) === name);

it('lists nothing before a run', async () => {
  expect(await listed(member, '')).toEqual([]);
  expect(await listed(member, '/hierarchy')).toEqual([]);
  expect((await member.get(`${root}/vendors/concentration`)).body).toMatchObject({ groups: 0, top: [] });
});

it('reads the suppliers again in the same attempt when the connection is lost', async () => {
  const writer = await db.transaction();
  await writer.raw('lock table cards');
  const { body, headers } = await admin.post(`${root}/vendors/analyse`);
  expect(headers.location).toBe(`/api/v1/jobs/${body.job_id}`);
  await endWaiting(db);
  await writer.commit();
  const ended = await until('the job to end', () =>
    db('jobs').where({ id: body.job_id }).whereNotNull('finished_at').first('status', 'attempt'),
  );
  expect(ended).toEqual({ status: 'succeeded', attempt: 1 });
});

it('brings names together and tells what each supplies', async () => {
  expect((await run('analyse')).results).toMatchObject({ suppliers: 4, categorised: 4, uncategorised: 0 });
  const items = await listed(member, '');
  expect(items).toHaveLength(4);
  expect(named(items, 'Microsoft')).toMatchObject({
    category: 'Data and analytics',
    sub_category: 'Databases',
    app_count: 1,
    itc_count: 3,
    total_cost: 650,
    app_list: ['Wiki'],
  });
  expect(named(items, 'Nordwind GmbH')).toMatchObject({
    sub_category: 'Insurance',
    app_count: 2,
    total_cost: 1_250,
    critical_app_count: 2,
    sole_critical_app_count: 1,
  });
  expect(named(items, 'Nordwind GmbH').reasoning).toContain('supplied cards');
  const byCost = await listed(member, '?sort_by=total_cost&sort_dir=desc&fields=vendor_name,total_cost');
  expect(pluck(byCost, 'total_cost')).toEqual([1_250, 650, 300.5, 50.5]);
  const insurance = await listed(member, '?category=Industry%20applications&fields=vendor_name');
  expect(named(insurance, 'Nordwind GmbH')).toBeDefined();
  expect(await listed(member, '?category=Uncategorised')).toEqual([]);
  expect(await listed(member, '?search=micro&fields=itc_count')).toEqual([{ itc_count: 3 }]);
  // costs by another way: each card's cost divided by the suppliers that it is related to or names
  const { rows } = await db.raw(`
     select round(sum((c.attributes ->> 'costTotalAnnual')::numeric), 2) as cost from cards c
     where c.type in ('Application', 'ITComponent') and c.status = 'ACTIVE'
       and (exists (select from relations r where r.target_id = c.id and r.type like 'relProviderTo%')
         or c.attributes ->> 'vendorName' in ('MSFT', 'Microsft'))`);
  expect(items.reduce((sum: number, item: { total_cost: number }) => sum + item.total_cost, 0)).toBe(
    rows[0].cost,
  );
});

it('finds who belongs to whom, and products whatever their version', async () => {
  const before = await listed(member, '?fields=id,vendor_name');
  expect((await run('resolve')).results).toMatchObject({ suppliers: 4, subsidiaries: 1 });
  const items = await listed(member, '/hierarchy');
  const microsoft = named(items, 'Microsoft');
  expect(microsoft).toMatchObject({
    vendor_type: 'vendor',
    aliases: ['MSFT', 'Microsoft Corporation', 'Microsft'].sort((a, b) =>
      a === 'Microsft' ? 1 : b === 'Microsft' ? -1 : a < b ? -1 : 1,
    ),
    card_ids: [id.get('Microsoft Corporation')],
    sub_category: 'Databases',
  });
  expect(microsoft.id).toBe(named(before, 'Microsoft').id);
  expect(named(items, 'Nordwind Austria GmbH')).toMatchObject({
    parent_id: named(items, 'Nordwind GmbH').id,
    group_name: 'Nordwind GmbH',
  });
  expect(named(items, 'Hochzeit Beratung').vendor_type).toBe('partner');
  const products = await listed(member, `/hierarchy?vendor_type=product&parent_id=${microsoft.id}`);
  expect(pluck(products, 'canonical_name', 'itc_count')).toEqual([
    ['SQL Server', 2],
    ['Wiki', 0],
    ['Windows Server', 1],
  ]);
  expect(await listed(member, '/hierarchy?search=msft&fields=canonical_name')).toEqual([
    { canonical_name: 'Microsoft' },
  ]);
});

it('tells how much depends on few, groups counted once', async () => {
  const { body } = await member.get(`${root}/vendors/concentration`);
  expect(body).toMatchObject({
    groups: 3,
    total_cost: 2_251,
    critical_app_count: 3,
    spend_share_top: { top_1: 0.6888, top_3: 1 },
  });
  expect(body.top[0]).toMatchObject({
    group_name: 'Nordwind GmbH',
    app_count: 3,
    critical_app_count: 3,
    sole_critical_app_count: 2,
    total_cost: 1_550.5,
    risk: 'high',
  });
  const shares = [1_550.5, 650, 50.5].map((cost) => (100 * cost) / 2_251);
  expect(body.hhi_spend).toBe(Math.round(shares.reduce((sum, share) => sum + share * share, 0)));
});

it('cuts costs, and keeps ids through later runs', async () => {
  const analyst = await t.holding('inventory.view', 'relations.view', 'ai_analysis.view');
  const seen = await listed(analyst, '');
  expect(seen.every(({ total_cost }: { total_cost: null }) => total_cost === null)).toBe(true);
  expect(pluck(seen, 'app_count').sort()).toEqual([1, 1, 2, 2]);
  await expectProblem(analyst.get(`${root}/vendors?sort_by=total_cost`), 403, 'costs.view');
  const concentration = (await analyst.get(`${root}/vendors/concentration`)).body;
  expect([concentration.total_cost, concentration.hhi_spend, concentration.top[0].total_cost]).toEqual([
    null,
    null,
    null,
  ]);
  const before = await listed(member, '/hierarchy?fields=id,canonical_name&page_size=200');
  await admin.patch(`/api/v1/cards/${id.get('Nordwind GmbH')}`, { name: 'Nordwind Holding' });
  await admin.post(`/api/v1/cards/${id.get('Hochzeit Beratung')}/archive`);
  await run('resolve');
  const after = await listed(member, '/hierarchy?fields=id,canonical_name&page_size=200');
  expect(named(after, 'Nordwind Holding').id).toBe(named(before, 'Nordwind GmbH').id);
  expect(named(after, 'Windows Server').id).toBe(named(before, 'Windows Server').id);
  expect(named(after, 'Hochzeit Beratung')).toBeUndefined();
});

it('refuses what is not allowed, unknown or under way', async () => {
  await expectProblem(member.post(`${root}/vendors/analyse`), 403);
  expect((await viewer.get(`${root}/vendors`)).status).toBe(
    (await viewer.get(`${root}/vendors/hierarchy`)).status,
  );
  for (const query of ['sort_by=name', 'fields=x', 'vendor_type=x', 'parent_id=1', 'page_size=201'])
    expect((await member.get(`${root}/vendors/hierarchy?${query}`)).status, query).toBe(422);
  expect(await listed(member, `/hierarchy?parent_id=${randomUUID()}`)).toEqual([]);
  await workers.close(2_000);
  const first = await admin.post(`${root}/vendors/analyse`);
  const second = await admin.post(`${root}/vendors/analyse`);
  expect([first.status, second.status, second.body.run_id]).toEqual([202, 409, first.body.run_id]);
  await ok(admin.post(`${root}/vendors/resolve`), 202);
});
