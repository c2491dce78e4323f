// @redis

import { parse } from 'csv-parse/sync';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { readWorkbook, XLSX } from '../../support/workbook.ts';

const url = '/api/v1/reports/query';

const { t, db, member } = await openApp(['member']);
closeAfterAll(await startWorkers(t.services));
const make = async (body: object) => (await member.create('/api/v1/cards', body)).id as string;
const apps = [];
for (const [name, cost, users] of [
  ['One', 10, 1],
  ['=Two', 20, 2],
  ['Three', 30, 3],
] as const)
  apps.push(
    await make({
      type: 'Application',
      name,
      attributes: { costTotalAnnual: cost, numberOfUsers: users, businessCriticality: 'businessCritical' },
    }),
  );
const component = await make({ type: 'ITComponent', name: 'Server' });
for (const source of apps.slice(0, 2))
  await member.create('/api/v1/relations', { type: 'relAppToITC', source_id: source, target_id: component });

const byComponent = {
  from: ['Application'],
  dimensions: [{ field: 'relation.relAppToITC.target.name', as: 'component' }],
  measures: [{ fn: 'count' }, { fn: 'sum', field: 'attributes.costTotalAnnual', as: 'cost' }],
  sort: [{ column: 'cost', dir: 'desc' }],
};

it('groups, measures, sorts and pages', async () => {
  const { status, body, headers } = await member.post(url, byComponent);
  expect(status).toBe(200);
  expect(headers.vary).toBe('Accept');
  expect(body).toEqual({
    columns: [
      { name: 'component', type: 'text' },
      { name: 'count', type: 'number' },
      { name: 'cost', type: 'number', unit: 'USD' },
    ],
    rows: [
      ['Server', 2, 30],
      [null, 1, 30],
    ],
    total_groups: 2,
    page: 1,
    page_size: 1000,
    has_more: false,
    position: expect.stringMatching(/^[0-9]+$/),
  });
  const first = await member.post(url, { ...byComponent, page_size: 1 });
  expect([first.body.rows.length, first.body.has_more, first.body.total_groups]).toEqual([1, true, 2]);
  const beyond = await member.post(url, { ...byComponent, page: 9, page_size: 1 });
  expect([beyond.body.rows, beyond.body.total_groups]).toEqual([[], 2]);
});

it('narrows cards by a filter and groups by having, and needs no dimension', async () => {
  const having = await member.post(url, {
    ...byComponent,
    filter: 'attributes.numberOfUsers > 1',
    having: [{ column: 'cost', op: '>', value: 20 }],
  });
  expect(having.body.rows).toEqual([[null, 1, 30]]);
  const all = await member.post(url, { measures: [{ fn: 'count' }, { fn: 'distinct', field: 'type' }] });
  expect(all.body.rows).toEqual([[4, 2]]);
  const dates = await member.post(url, {
    dimensions: [{ field: 'created_at', bucket: 'year' }],
    measures: [{ fn: 'max', field: 'updated_at', as: 'last' }],
  });
  expect(dates.body.rows).toEqual([
    [String(new Date().getUTCFullYear()), expect.stringMatching(/^\d{4}-.*Z$/)],
  ]);
});

it('gives every group as CSV and as a workbook', async () => {
  const query = { ...byComponent, dimensions: [{ field: 'name' }], page_size: 1 };
  expect(parse((await member.post(url, query, { accept: 'text/csv' })).raw, { columns: true })).toEqual([
    { name: 'Three', count: '1', cost: '30' },
    { name: "'=Two", count: '1', cost: '20' },
    { name: 'One', count: '1', cost: '10' },
  ]);
  const book = await readWorkbook((await member.post(url, query, { accept: XLSX })).raw);
  const sheet = book.getWorksheet('Query')!;
  expect([sheet.rowCount, sheet.getCell('A3').value, sheet.getCell('C3').value]).toEqual([4, '=Two', 20]);
  await expectProblem(member.post(url, query, { accept: 'application/msword' }), 406, 'not_acceptable');
});

it('is drawn as a picture, at once or by a job', async () => {
  const accept = 'image/svg+xml';
  const { status, text, headers } = await member.post(url, byComponent, { accept });
  expect([status, headers['content-type'], headers.vary]).toEqual([
    200,
    'image/svg+xml; charset=utf-8',
    'Accept, Accept-Language',
  ]);
  const german = await member.post(url, byComponent, { accept, 'accept-language': 'de' });
  expect([german.headers['content-language'], / nach /.test(german.text)]).toEqual(['de', true]);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['x-position']).toMatch(/^[0-9]+$/);
  expect(text).toContain('>Server</text>');
  expect(text).toContain('cost (USD)');
  const started = await member.post(url, byComponent, { accept, prefer: 'respond-async' });
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const file = await member.get(`${started.headers.location}/result`);
  expect(file.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
  expect(file.raw.toString()).toBe(text);
  const bad = await member.post(url, { dimensions: [{ field: 'attributes.nothing' }] }, { accept });
  expect([bad.status, bad.body.errors[0].field]).toEqual([422, 'dimensions.0.field']);
});

it('is answered by a job when that is preferred', async () => {
  const started = await member.post(url, byComponent, { prefer: 'respond-async' });
  expect([started.status, started.headers['preference-applied']]).toEqual([202, 'respond-async']);
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const file = await member.get(`${started.headers.location}/result`);
  const { columns, rows, total_groups } = JSON.parse(file.raw.toString());
  expect([columns.length, rows, total_groups]).toEqual([
    3,
    [
      ['Server', 2, 30],
      [null, 1, 30],
    ],
    2,
  ]);
  const events = await db('events').where({ event_type: 'report_query.started' });
  expect(events.map(({ data }) => data.format)).toEqual(['svg', 'json']);
  expect(await db('files').pluck('with_costs')).toEqual([true, true]);
});

it('shows a moment in the past', async () => {
  const before = new Date().toISOString();
  await member.card({ type: 'Provider', name: 'Late' });
  const query = { from: ['Provider'], measures: [{ fn: 'count' }] };
  expect((await member.post(url, query)).body.rows).toEqual([[1]]);
  expect((await member.post(url, { ...query, as_of: before })).body.rows).toEqual([[0]]);
  const csv = await member.post(url, { ...query, as_of: before }, { accept: 'text/csv' });
  expect(csv.text).toBe('count\r\n0\r\n');
  const earlyCsv = await member.post(
    url,
    { ...query, as_of: '2001-01-01T00:00:00Z' },
    { accept: 'text/csv' },
  );
  expect(earlyCsv.body.code).toBe('as_of_expired');
  await expectProblem(
    member.post(url, { ...query, as_of: '2001-01-01T00:00:00Z' }),
    422,
    'as_of_expired',
    'as_of',
  );
});

it('keeps costs, relations and people from those who may not see them', async () => {
  const reader = await t.holding('inventory.view', 'reports.ea_dashboard');
  const refused = async (body: object) => (await reader.post(url, body)).body.permission;
  const cost = { fn: 'avg', field: 'attributes.costTotalAnnual' };
  expect(await refused({ measures: [cost] })).toBe('costs.view');
  expect(await refused({ dimensions: [{ field: 'attributes.costTotalAnnual' }] })).toBe('costs.view');
  expect(await refused({ filter: 'attributes.costTotalAnnual > 1' })).toBe('costs.view');
  expect(await refused({ measures: [{ fn: 'count', field: 'relation.relAppToITC' }] })).toBe(
    'relations.view',
  );
  expect(await refused({ dimensions: [{ field: 'stakeholder.responsible' }] })).toBe('stakeholders.view');
  await ok(reader.post(url, { dimensions: [{ field: 'type' }] }));
});

it('names every fault by its path', async () => {
  const { status, body } = await member.post(url, {
    from: ['Application', 'Nothing'],
    filter: 'name = ',
    dimensions: [
      { field: 'attributes.nothing' },
      { field: "name'; drop table cards; --" },
      { field: 'relation.relAppToITC.target' },
      { field: 'relation.relAppToITC.source.name' },
      { field: 'name', bucket: 'year' },
      { field: 'name', at: '2026-01-01' },
    ],
    measures: [
      { fn: 'sum' },
      { fn: 'sum', field: 'name' },
      { fn: 'percentile', field: 'data_quality' },
      { fn: 'max', field: 'name' },
      { fn: 'count', as: 'x' },
      { fn: 'count', field: 'name', as: 'x' },
    ],
  });
  expect(status).toBe(422);
  expect(pluck(body.errors, 'field', 'code')).toEqual([
    ['from.1', 'unknown_type'],
    ['filter', 'filter_syntax'],
    ['dimensions.0.field', 'filter_unknown_field'],
    ['dimensions.1.field', 'filter_syntax'],
    ['dimensions.2.field', 'no_value'],
    ['dimensions.3.field', 'filter_unknown_field'],
    ['dimensions.4.bucket', 'not_offered'],
    ['dimensions.5.at', 'not_offered'],
    ['measures.0.field', 'required'],
    ['measures.1.field', 'no_number'],
    ['measures.2.p', 'required'],
    ['measures.3.field', 'not_ordered'],
    ['measures.5', 'duplicate_name'],
  ]);
  for (const bad of [
    { sort: [{ column: 'none' }] },
    { having: [{ column: 'none', op: '=', value: 1 }] },
    { measures: [{ fn: 'median' }] },
    { dimensions: [{ field: 'name', as: 'a b"' }] },
    { unknown: 1 },
    { page_size: 10_001 },
  ])
    await expectProblem(member.post(url, bad), 422);
});

it('draws cards that are grouped by id with their names', async () => {
  const query = {
    from: ['Application'],
    dimensions: [{ field: 'id' }],
    measures: [{ fn: 'sum', field: 'attributes.costTotalAnnual' }],
  };
  const { body } = await member.post(url, query, { accept: 'application/vnd.estate.chart+json' });
  expect(pluck(body.items, 'name').toSorted()).toEqual(['=Two', 'One', 'Three']);
});
