import type { CardType } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import {
  costTreemapChart,
  groupOfField,
} from '../../../reports/inventory/cost-treemap/cost-treemap.report.ts';
import type { TreemapChart } from '../../../reports/kernel/charts/charts.types.ts';
import { waitForPosition } from '../../../reports/kernel/report.position.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const at = (path: string) => `/api/v1/reports/${path}`;

const { t, db, admin } = await openApp(['admin']);
const noCosts = await t.holding(
  'inventory.view',
  'relations.view',
  'reports.ea_dashboard',
  'reports.portfolio',
);
const ids = await storeInventory(
  t,
  {
    Application: {
      crm: {
        attributes: {
          costTotalAnnual: 100.5,
          businessCriticality: 'missionCritical',
          functionalSuitability: 'perfect',
        },
        lifecycle: { active: '2024-01-01', endOfLife: '2027-01-01' },
      },
      '=erp': { attributes: { costTotalAnnual: 300, businessCriticality: 'missionCritical' } },
      free: { attributes: { businessCriticality: 'businessOperational' }, parent: 'crm' },
      gone: { attributes: { costTotalAnnual: 1000 }, status: 'ARCHIVED' },
    },
    ITComponent: {
      server: { attributes: { costTotalAnnual: 20 } },
      cables: { attributes: { costTotalAnnual: 5 } },
      'old server': { attributes: { costTotalAnnual: 7000 }, status: 'ARCHIVED' },
    },
    Organization: { bought: {}, accounts: {} },
  },
  [
    ['relAppToITC', 'crm', 'server'],
    ['relAppToITC', 'crm', 'old server'],
    ['relAppToITC', 'free', 'server'],
    ['relAppToITC', 'free', 'cables'],
    ['relOrgToApp', 'bought', 'crm'],
    ['relOrgToApp', 'accounts', 'crm'],
    ['relOrgToApp', 'bought', '=erp'],
  ],
);

describe('cost', () => {
  it('sums the cost fields of each card, the highest first', async () => {
    expect(await ok(admin.get(at('cost')))).toEqual({
      items: [
        { id: ids['=erp'], name: '=erp', cost: 300 },
        { id: ids.crm, name: 'crm', cost: 100.5 },
      ],
      total: 400.5,
      row_count: 2,
      next_cursor: null,
      position: expect.any(String),
    });
    const csv = await admin.get(at('cost'), { accept: 'text/csv' });
    expect(csv.text).toBe(`id,name,cost\r\n${ids['=erp']},'=erp,300\r\n${ids.crm},crm,100.5\r\n`);
    expect((await admin.get(at(`cost?filter=${encodeURIComponent('name = crm')}`))).body.total).toBe(100.5);
    expect((await admin.get(at('cost?type=Organization'))).body).toMatchObject({ items: [], total: 0 });
  });

  it('shows a change of the costs at once', async () => {
    const { headers } = await admin.get(at('cost?type=ITComponent'));
    const path = `/api/v1/cards/${ids.cables}`;
    await admin.patch(path, { attributes: { costTotalAnnual: 6 } });
    const after = await admin.get(at('cost?type=ITComponent'), { 'if-none-match': headers.etag! });
    expect([after.status, after.body.total]).toEqual([200, 26]);
    await admin.patch(path, { attributes: { costTotalAnnual: 5 } });
  });

  it('shows the costs as they were', async () => {
    const path = `/api/v1/cards/${ids.cables}`;
    const changed = await admin.patch(path, { attributes: { costTotalAnnual: 8 } });
    const { rows } = await db.raw('select utc(max(at)) as at from events');
    await admin.patch(path, { attributes: { costTotalAnnual: 5 } });
    const { status, body } = await admin.get(at(`cost?type=ITComponent&as_of=${rows[0].at}`));
    expect([status, body.total, body.position]).toEqual([200, 28, changed.headers['x-position']]);
    const before = admin.get(at('cost?as_of=2000-01-01T00:00:00Z'));
    await expectProblem(before, 422, 'as_of_expired', 'as_of as_of_expired');
    await expectProblem(admin.get(at('cost?as_of=2999-01-01T00:00:00Z')), 422);
    for (const report of ['dashboard', 'data-quality', 'roadmap', 'portfolio', 'cost-treemap'])
      await ok(admin.get(at(`${report}?as_of=${rows[0].at}`)));
  });

  it('is refused without costs.view, and for what is no type', async () => {
    for (const path of ['cost', 'cost-treemap', 'portfolio?size_field=costTotalAnnual'])
      await expectProblem(noCosts.get(at(path)), 403, 'costs.view');
    for (const path of ['cost?type=Nothing', 'cost-treemap?cost_field=alias', 'roadmap?type=Nothing'])
      await expectProblem(admin.get(at(path)), 422);
  });
});

describe('cost treemap', () => {
  it('adds the costs of related types once for each card', async () => {
    const body = await ok(admin.get(at('cost-treemap?aggregate=ITComponent')));
    expect(pluck(body.items, 'name', 'cost')).toEqual([
      ['=erp', 300],
      ['crm', 120.5],
      ['free', 25],
    ]);
    expect([body.total, body.groups]).toEqual([445.5, null]);
    expect(body.items[1].lifecycle.endOfLife).toBe('2027-01-01');
  });

  it('groups by a related type and by a select field, with the rest', async () => {
    const byType = await admin.get(at('cost-treemap?aggregate=ITComponent&group_by=Organization'));
    expect(byType.body.groups).toEqual([
      { id: ids.bought, name: 'bought', parent_name: null, cost: 300 },
      { id: ids.accounts, name: 'accounts', parent_name: null, cost: 120.5 },
      { id: null, name: 'Ungrouped', parent_name: null, cost: 25 },
    ]);
    expect(byType.body.items[0]).toMatchObject({ group: 'bought', group_id: ids.bought });
    expect(byType.body.items[2]).toMatchObject({ group: 'Ungrouped', group_id: null });
    expect((await admin.get(at('cost-treemap?group_by=businessCriticality'))).body.groups).toEqual([
      { id: null, name: 'Mission Critical', parent_name: null, cost: 400.5 },
    ]);
    const csv = await admin.get(at('cost-treemap?group_by=businessCriticality&table=groups'), {
      accept: 'text/csv',
    });
    expect(csv.text).toBe('id,name,cost\r\n,Mission Critical,400.5\r\n');
  });

  it('groups its picture by a well-filled field if the request names none', async () => {
    const chartOf = async (query: string) =>
      (await admin.get(at(`cost-treemap${query}`), { accept: 'application/vnd.estate.chart+json' })).body;
    expect(await chartOf('')).toMatchObject({ kind: 'treemap', groupAxis: 'Business Criticality' });
    expect(await chartOf('?group_by=Organization')).toMatchObject({ groupAxis: 'Organization' });
  });

  it('keeps a group that is named as those without a group apart from them', async () => {
    const rename = (name: string, body: object) => ok(admin.patch(`/api/v1/cards/${ids[name]}`, body));
    await rename('bought', { name: 'Ungrouped' });
    const path = 'cost-treemap?aggregate=ITComponent&group_by=Organization';
    const { body } = await admin.get(at(path));
    expect(body.groups).toEqual([
      { id: ids.bought, name: 'Ungrouped', parent_name: null, cost: 300 },
      { id: ids.accounts, name: 'accounts', parent_name: null, cost: 120.5 },
      { id: null, name: 'Ungrouped', parent_name: null, cost: 25 },
    ]);
    const table = await admin.get(at(`${path}&table=items`), { accept: 'text/csv' });
    expect(table.text.split('\r\n')[0]).toMatch(/^id,name,cost,group,group_id,/);
    const chart = costTreemapChart(body, { type: 'Application', cost_field: 'costTotalAnnual' }, {
      metamodel: (await t.ctx()).metamodel,
    } as never);
    expect(chart).toMatchObject({
      items: [{ group: ids.bought }, { group: ids.accounts }, { group: 'Ungrouped' }],
      groups: [{ key: ids.bought }, { key: ids.accounts }, { key: 'Ungrouped' }],
    });
    await rename('bought', { name: 'bought' });
  });

  it('names the card above a group, by which the picture tells groups of one name apart', async () => {
    const move = (parent_id: string | null) => admin.patch(`/api/v1/cards/${ids.accounts}`, { parent_id });
    await ok(move(ids.bought!));
    const { body } = await admin.get(at('cost-treemap?aggregate=ITComponent&group_by=Organization'));
    const group = body.groups[1];
    expect(group).toEqual({ id: ids.accounts, name: 'accounts', parent_name: 'bought', cost: 120.5 });
    await ok(move(null));
    const { groups } = costTreemapChart(
      { items: [], groups: body.groups.map((group: object) => ({ ...group, name: 'Unit' })) },
      { type: 'Application', cost_field: 'costTotalAnnual' },
      { metamodel: (await t.ctx()).metamodel } as never,
    ) as TreemapChart;
    expect(groups!.map(({ name }) => name)).toEqual(['Unit', 'Unit (bought)', 'Unit']);
  });

  it('keeps options of one label apart, and an option that is named as those without one', () => {
    const optionLabels = new Map([
      ['high', 'High'],
      ['low', 'Low'],
      ['highest', 'High'],
      ['none', 'Ungrouped'],
    ]);
    const type = { fields: new Map([['level', { optionLabels }]]) } as unknown as CardType;
    expect(JSON.parse(String(groupOfField(type, 'level').bindings[0]))).toEqual({
      high: 'High (high)',
      low: 'Low',
      highest: 'High (highest)',
      none: 'Ungrouped (none)',
    });
  });

  it('shows the children of one card', async () => {
    const { body } = await admin.get(at(`cost-treemap?aggregate=ITComponent&parent_card_id=${ids.crm}`));
    expect(pluck(body.items, 'name')).toEqual(['free']);
    const nothing = '00000000-0000-4000-8000-000000000000';
    await expectProblem(admin.get(at(`cost-treemap?parent_card_id=${nothing}`)), 404);
    await expectProblem(admin.get(at('cost-treemap?group_by=alias')), 422);
    await expectProblem(admin.get(at('cost-treemap?aggregate=Organization')), 422);
  });
});

it('roadmap holds the cards with a date, costs cut for those who may not see them', async () => {
  const { items, undated } = (await admin.get(at('roadmap'))).body;
  const all = (await admin.get('/api/v1/cards?page_size=1')).body.total;
  expect(undated).toBe(all - items.length);
  expect(items).toEqual([
    {
      id: ids.crm,
      name: 'crm',
      type: 'Application',
      subtype: null,
      lifecycle: { active: '2024-01-01', endOfLife: '2027-01-01' },
      attributes: {
        costTotalAnnual: 100.5,
        businessCriticality: 'missionCritical',
        functionalSuitability: 'perfect',
      },
    },
  ]);
  const { attributes } = (await noCosts.get(at('roadmap?type=Application'))).body.items[0];
  expect(attributes).toEqual({ businessCriticality: 'missionCritical', functionalSuitability: 'perfect' });
  expect((await admin.get(at('roadmap?type=ITComponent'))).body.items).toEqual([]);
  const csv = await admin.get(at('roadmap'), { accept: 'text/csv' });
  expect(csv.text).toContain(`${ids.crm},crm,Application,,,,2024-01-01,,2027-01-01\r\n`);
});

it('portfolio places the cards of a type by its fields', async () => {
  const body = await ok(admin.get(at('portfolio')));
  expect([body.x_axis, body.y_axis, body.items.length]).toEqual([
    'functionalSuitability',
    'technicalSuitability',
    3,
  ]);
  expect(body.items.find((item: { name: string }) => item.name === 'crm')).toEqual({
    id: ids.crm,
    name: 'crm',
    x: 'perfect',
    y: null,
    size: 100.5,
    color: 'missionCritical',
    lifecycle: { active: '2024-01-01', endOfLife: '2027-01-01' },
  });
  const other = await noCosts.get(at('portfolio?size_field=numberOfUsers'));
  expect([other.status, other.body.items[0].size]).toEqual([200, null]);
  const unknown = await admin.get(at('portfolio?x_axis=functionalFit'));
  expect([unknown.status, unknown.body.errors[0].field]).toEqual([422, 'x_axis']);
});

it('portfolio chooses fields that are filled, and says so', async () => {
  const cards = 3;
  const { fields, groups } = await ok(admin.get(at('portfolio')));
  expect(fields).toEqual({
    x_axis: { field: 'functionalSuitability', filled: 1, is_default: true },
    y_axis: { field: 'technicalSuitability', filled: 0, is_default: true },
    size_field: { field: 'costTotalAnnual', filled: 2, is_default: true },
    color_field: { field: 'businessCriticality', filled: 3, is_default: true },
  });
  expect(groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(cards);
  // a field of less than 30 % gives way to one that is filled better
  const named = await ok(admin.get(at('portfolio?y_axis=timeModel&size_field=numberOfUsers')));
  expect(named.fields.y_axis).toEqual({ field: 'timeModel', filled: 0, is_default: false });
  // costs are never a default without costs.view, and another type has other fields
  const cut = await ok(noCosts.get(at('portfolio')));
  expect(cut.fields.size_field.field).not.toBe('costTotalAnnual');
  expect(JSON.stringify(cut)).not.toContain('100.5');
  const components = await ok(admin.get(at('portfolio?type=ITComponent')));
  expect(components.x_axis).not.toBe('functionalSuitability');
  for (const type of ['ITComponent', 'Organization', 'Objective'])
    await ok(admin.get(at(`portfolio?type=${type}`), { accept: 'image/svg+xml' }));
});

describe('freshness and single flight', () => {
  it('waits for a position and refuses one that does not come', async () => {
    const written = await admin.patch(`/api/v1/cards/${ids.crm}`, { alias: 'again' });
    const position = written.headers['x-position']!;
    const { status, body } = await admin.get(at(`cost?min_position=${position}`));
    expect([status, Number(body.position) >= Number(position)]).toEqual([200, true]);
    // a position whose events are long gone is one that every answer includes
    await ok(admin.get(at('cost?min_position=0')));
    const malformed = await admin.get(at('cost?min_position=soon'));
    expect([malformed.status, malformed.body.errors[0].field]).toEqual([422, 'min_position']);
    const ahead = waitForPosition(db, t.services.signals, Number(position) + 1, 20);
    await expect(ahead).rejects.toMatchObject({ code: 'position_ahead', extra: { newest: position } });
    const reached = waitForPosition(db, t.services.signals, Number(position) + 1);
    await admin.patch(`/api/v1/cards/${ids.crm}`, { alias: 'and again' });
    await reached;
  });

  it('may give an older answer with its age when asked to', async () => {
    const before = await admin.get(at('cost?type=Application'));
    await admin.patch(`/api/v1/cards/${ids.crm}`, { attributes: { costTotalAnnual: 101 } });
    const old = await admin.get(at('cost?type=Application&max_staleness=60'));
    expect([old.body, old.headers.etag]).toEqual([before.body, before.headers.etag]);
    expect(old.headers).toMatchObject({ age: '0', 'cache-control': 'private, max-age=60' });
    const now = await admin.get(at('cost?type=Application'));
    expect([now.body.total, now.headers.age]).toEqual([401, undefined]);
  });

  it('computes once for 200 who ask at once', async () => {
    const before = (await admin.get('/metrics')).text;
    const count = (text: string, outcome: string) =>
      Number(
        new RegExp(`estate_report_responses_total\\{report="roadmap",outcome="${outcome}"\\} (\\d+)`).exec(
          text,
        )?.[1] ?? 0,
      );
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => admin.get(at(`roadmap?filter=${encodeURIComponent('name ~ crm')}`))),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    const after = (await admin.get('/metrics')).text;
    expect(count(after, 'computed') - count(before, 'computed')).toBe(1);
    expect(
      count(after, 'shared') + count(after, 'cached') - count(before, 'shared') - count(before, 'cached'),
    ).toBe(199);
  });
});
