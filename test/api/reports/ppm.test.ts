// @redis

/** The portfolio of initiatives. */

import { randomUUID } from 'node:crypto';
import { meeting, readPicture } from '../../reports/kernel/charts/boxes.ts';
import { answered, expectProblem, openApp, pluck } from '../../support/harness.ts';
import { readWorkbook, XLSX } from '../../support/workbook.ts';

const at = (path: string) => `/api/v1/reports/ppm/${path}`;

let app: string;

const made = async (url: string, body: object): Promise<string> =>
  (await admin.create(`/api/v1${url}`, body)).id;
const on = (id: string, what: string, body: object) => made(`/ppm/initiatives/${id}/${what}`, body);
const card = (type: string, name: string, more: object = {}) => made('/cards', { type, name, ...more });

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);
const harbour = await card('Initiative', 'Harbour', {
  subtype: 'project',
  attributes: { initiativeStatus: 'atRisk', startDate: '2026-01-01', endDate: '2026-12-31', costBudget: 9 },
});
const bridge = await card('Initiative', 'Bridge', {
  subtype: 'idea',
  attributes: { initiativeStatus: 'onTrack' },
});
await card('Initiative', 'Canal', { parent_id: bridge });
await admin.post(`/api/v1/cards/${await card('Initiative', 'Archived')}/archive`);
for (const name of ['Zeppelin', 'Anchor']) {
  const id = await card('Application', name);
  if (name === 'Anchor') app = id;
  await made('/relations', { type: 'relInitiativeToApp', source_id: harbour, target_id: id });
}
const line = { description: 'L', category: 'capex', planned: 100, actual: 40, date: '2026-09-30' };
await on(harbour, 'costs', line);
await on(harbour, 'costs', { ...line, category: 'opex', actual: 2.5, date: '2026-10-01' });
await on(harbour, 'budgets', { fiscal_year: 2027, category: 'capex', amount: 500 });
const latest = await on(harbour, 'reports', {
  report_date: '2026-03-31',
  schedule_health: 'offTrack',
  cost_health: 'atRisk',
  summary: '=1+1',
});
await on(harbour, 'reports', { report_date: '2026-02-28' });
await admin.patch('/api/v1/settings/fiscal-year-start', { month: 10 });
await db('stakeholders').insert({ card_id: harbour, user_id: viewer.userId, role: 'observer' });
await db.raw(`select raise_topics(array['cards:Initiative'])`);

it('is grouped by the types that relation types join to it', async () => {
  const { body } = await viewer.get(at('group-options'));
  const keys = pluck(body.items, 'type_key');
  expect(keys).toContain('Application');
  expect(keys).not.toContain('Initiative');
  expect(body.items.find((one: { type_key: string }) => one.type_key === 'Application').type_label).toBe(
    'Application',
  );
});

it('is counted by subtype, status and health, and summed by fiscal year', async () => {
  const { body } = await admin.get(at('dashboard'));
  expect(body).toMatchObject({
    total_initiatives: 3,
    by_subtype: { idea: 1, project: 1 },
    by_status: { atRisk: 1, onTrack: 1 },
    total_budget: 500,
    total_actual: 42.5,
    health_schedule: { onTrack: 0, atRisk: 0, offTrack: 1, noReport: 2 },
    health_cost: { onTrack: 0, atRisk: 1, offTrack: 0, noReport: 2 },
    health_scope: { onTrack: 1, atRisk: 0, offTrack: 0, noReport: 2 },
    by_fiscal_year: [
      { fiscal_year: 2026, budget: 0, planned: 100, actual: 40 },
      { fiscal_year: 2027, budget: 500, planned: 100, actual: 2.5 },
    ],
  });
  // kept until something changes
  await admin.patch('/api/v1/settings/fiscal-year-start', { month: 1 });
  expect((await admin.get(at('dashboard'))).body.by_fiscal_year).toEqual([
    { fiscal_year: 2026, budget: 0, planned: 200, actual: 42.5 },
    { fiscal_year: 2027, budget: 500, planned: 0, actual: 0 },
  ]);
  const csv = await admin.get(at('dashboard'), { accept: 'text/csv' });
  expect(csv.text).toContain('health_schedule,offTrack,1\r\n');
  const narrowed = await admin.get(`${at('dashboard')}?filter=${encodeURIComponent('subtype = "idea"')}`);
  expect(narrowed.body).toMatchObject({ total_initiatives: 1, total_actual: 0 });
});

it('is drawn: figures, health, money of those who may see it, and initiatives over time', async () => {
  const textsOf = async (path: string, client = admin) => {
    const { texts } = readPicture((await answered(client.get(at(path), { accept: 'image/svg+xml' }))).text);
    expect(meeting(texts)).toEqual([]);
    return texts.map(({ text, title }) => title ?? text).join('\n');
  };
  const dashboard = await textsOf('dashboard');
  for (const text of ['Budget', '$500', 'At Risk', 'Off track', 'No status', 'Costs by fiscal year', '2027'])
    expect(dashboard).toContain(text);
  const seen = await textsOf('dashboard', viewer);
  for (const text of ['Budget', '$500', 'Money']) expect(seen).not.toContain(text);
  const gantt = await textsOf('gantt?group_by=Application');
  for (const text of ['Anchor', 'Harbour', '2 without a date left out', 'From start to end'])
    expect(gantt).toContain(text);
  await expectProblem(viewer.get(at('group-options'), { accept: 'image/svg+xml' }), 406);
});

it('lies over time, each initiative once, with money, people and the newest report', async () => {
  const { body } = await admin.get(`${at('gantt')}?group_by=Application`);
  expect(pluck(body.items, 'name')).toEqual(['Harbour', 'Bridge', 'Canal']);
  expect(body.items[0]).toMatchObject({
    id: harbour,
    subtype: 'project',
    status: 'atRisk',
    start_date: '2026-01-01',
    end_date: '2026-12-31',
    cost_budget: 500,
    cost_actual: 42.5,
    capex_planned: 100,
    capex_actual: 40,
    opex_planned: 100,
    opex_actual: 2.5,
    group_id: app,
    group_name: 'Anchor',
    latest_report: { id: latest, schedule_health: 'offTrack', report_date: '2026-03-31' },
    latest_report_id: latest,
    stakeholders: [{ user_id: viewer.userId, role_key: 'observer' }],
  });
  const item = body.items[2];
  expect(item).toMatchObject({ parent_id: bridge, latest_report: null, cost_budget: null, capex_planned: 0 });
  expect(pluck((await admin.get(at('gantt'))).body.items, 'name', 'group_id')).toEqual([
    ['Bridge', null],
    ['Canal', null],
    ['Harbour', null],
  ]);
  const other = await admin.get(`${at('gantt')}?group_by=Initiative`);
  expect([other.status, other.body.errors[0].field]).toEqual([422, 'group_by']);
  await on(bridge, 'reports', { report_date: '2026-04-30', summary: 'New.' });
  expect((await admin.get(at('gantt'))).body.items[0].latest_report.summary).toBe('New.');
});

it('is exported as a workbook with its reports and people', async () => {
  const answer = await admin.request({ method: 'GET', url: at('gantt'), headers: { accept: XLSX } });
  expect(answer.status, answer.text).toBe(200);
  const book = await readWorkbook(answer.raw);
  expect(book.worksheets.map(({ name }) => name)).toEqual(['initiatives', 'latest_reports', 'stakeholders']);
  const cells = book.getWorksheet('initiatives')!.getSheetValues().slice(1) as unknown[][];
  const column = (cells[0] as string[]).indexOf('cost_actual');
  expect(cells.map((row) => row[column])).toContain(42.5);
});

it('shows no money to those who see no costs, and nothing without both permissions', async () => {
  expect((await viewer.get(at('dashboard'))).body).toMatchObject({
    total_initiatives: 3,
    total_budget: null,
    total_actual: null,
    by_fiscal_year: null,
  });
  const gantt = await viewer.get(at('gantt'));
  const money = Object.entries(gantt.body.items[2]).filter(([key]) => /^(cost|capex|opex)_/.test(key));
  expect(money.map(([, value]) => value)).toEqual(Array(6).fill(null));
  expect((await viewer.get(at('gantt'), { accept: 'text/csv' })).text).not.toContain('42.5');
  const half = await t.holding('inventory.view', 'ppm.view');
  await expectProblem(half.get(at('gantt')), 403, 'reports.ppm_dashboard');
  const alone = await t.holding('inventory.view', 'ppm.view', 'reports.ppm_dashboard');
  await expectProblem(alone.get(`${at('gantt')}?group_by=Application`), 403, 'relations.view');
  expect((await alone.get(at('gantt'))).body.items[2].stakeholders).toEqual([]);
  const found = (await alone.get(`${at('gantt')}?filter=${encodeURIComponent(`name = "${randomUUID()}"`)}`))
    .body;
  expect(found.items).toEqual([]);
});
