// @redis
import { randomUUID } from 'node:crypto';
import { meeting, readPicture } from '../../reports/kernel/charts/boxes.ts';
import { answered, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { XLSX } from '../../support/workbook.ts';
import { chain } from '../bpm/models.ts';

/** Ids by name. */
const ids: Record<string, string> = {};

const { admin, viewer } = await openApp(['admin', 'viewer']);
const card = async (type: string, name: string, attributes: object = {}, more: object = {}) => {
  ids[name] = (await admin.card({ type, name, attributes, ...more })).id;
};
const relate = async (type: string, source: string, target: string, attributes: object = {}) => {
  const ends = { source_id: ids[source], target_id: ids[target] };
  await admin.create('/api/v1/relations', { type, ...ends, attributes });
};
await card('BusinessProcess', 'Bill', {
  processType: 'core',
  maturity: 'initial',
  riskLevel: 'high',
  automationLevel: 'fullyAutomated',
});
await card('BusinessProcess', 'Collect', { processType: 'support', riskLevel: 'critical' });
await card('BusinessProcess', 'Rest');
await card('Application', 'CRM', { costTotalAnnual: 40 });
await card('Application', 'ERP', { costTotalAnnual: 2 });
await card('BusinessCapability', 'Invoicing');
await card('BusinessCapability', 'Selling');
await card('Organization', 'Finance');
await card('BusinessContext', 'Stream', {}, { subtype: 'valueStream' });
await card('DataObject', 'Invoice');
await relate('relProcessToBC', 'Bill', 'Invoicing', { supportType: 'leading' });
await relate('relProcessToBC', 'Collect', 'Invoicing');
await relate('relProcessToApp', 'Bill', 'CRM', { usageType: 'reads' });
await relate('relProcessToOrg', 'Bill', 'Finance');
await relate('relProcessToOrg', 'Collect', 'Finance');
await relate('relProcessToBizCtx', 'Bill', 'Stream');
await relate('relProcessDependency', 'Collect', 'Bill');
const before = new Date().toISOString();
const process = `/api/v1/bpm/processes/${ids.Bill}`;
await ok(admin.put(`${process}/diagram`, { bpmn_xml: chain({ a: 'Write', b: 'Send' }) }));
const { body } = await admin.get(`${process}/elements`);
ids.element = body.items[1].id;
await ok(
  admin.put(`${process}/elements/${ids.element}`, { application_id: ids.ERP, data_object_id: ids.Invoice }),
);

const read = async (name: string, client = viewer) => await ok(client.get(`/api/v1/reports/bpm/${name}`));
const csv = async (name: string, client = viewer): Promise<string[]> => {
  const answer = await answered(client.get(`/api/v1/reports/bpm/${name}`, { accept: 'text/csv' }));
  expect(answer.headers['content-disposition']).toContain(`bpm-${name.split('?')[0]}`);
  return answer.text.trim().split('\r\n');
};

it('dashboard', async () => {
  expect(await read('dashboard')).toMatchObject({
    total_processes: 3,
    by_process_type: { core: 1, support: 1 },
    by_maturity: { initial: 1, unknown: 2 },
    by_automation: { fullyAutomated: 1, unknown: 2 },
    by_risk: { high: 1, critical: 1, unknown: 1 },
    top_risk_processes: [
      { id: ids.Collect, name: 'Collect', risk: 'critical', maturity: 'unknown' },
      { id: ids.Bill, name: 'Bill', risk: 'high', maturity: 'initial' },
    ],
    diagram_coverage: { with_diagram: 1, total: 3, percentage: 33.3 },
  });
  expect(await csv('dashboard')).toContain('by_risk,critical,1');
});

it('capability-process-matrix', async () => {
  const body = await read('capability-process-matrix');
  expect(pluck(body.rows, 'name')).toEqual(['Bill', 'Collect', 'Rest']);
  expect(pluck(body.columns, 'name')).toEqual(['Invoicing', 'Selling']);
  expect(body.cells).toHaveLength(2);
  expect(body.cells).toContainEqual({
    process_id: ids.Bill,
    capability_id: ids.Invoicing,
    attributes: { supportType: 'leading' },
  });
  expect(await csv('capability-process-matrix')).toContain(`${ids.Bill},Bill,${ids.Invoicing},Invoicing`);
});

it('process-application-matrix', async () => {
  const { cells } = await read('process-application-matrix');
  const of = { process_id: ids.Bill };
  expect(cells).toHaveLength(3);
  expect(cells).toEqual(
    expect.arrayContaining([
      { ...of, application_id: ids.CRM, source: 'relation', attributes: { usageType: 'reads' } },
      { ...of, application_id: ids.ERP, source: 'relation', attributes: {} },
      { ...of, application_id: ids.ERP, source: 'element', element_name: 'Send', element_type: 'userTask' },
    ]),
  );
  expect((await csv('process-application-matrix')).length).toBe(4);
});

it('process-dependencies', async () => {
  const { nodes, edges } = await read('process-dependencies');
  expect(nodes).toHaveLength(3);
  expect(edges).toMatchObject([{ source: ids.Collect, target: ids.Bill }]);
  expect((await csv('process-dependencies')).length).toBe(2);
});

it('capability-heatmap', async () => {
  const values = async (metric: string) =>
    pluck((await read(`capability-heatmap?metric=${metric}`)).items, 'metric_value');
  const item = (await read('capability-heatmap')).items[0];
  expect(item).toMatchObject({ id: ids.Invoicing, parent_id: null, level: 'L1', metric_value: 2 });
  expect(await values('high_risk_count')).toEqual([2, 0]);
  expect(await values('low_maturity_count')).toEqual([1, 0]);
  expect(await values('automated_count')).toEqual([1, 0]);
  await expectProblem(viewer.get('/api/v1/reports/bpm/capability-heatmap?metric=x'), 422);
  expect((await csv('capability-heatmap')).length).toBe(3);
});

it('element-application-map', async () => {
  const { items } = await read('element-application-map');
  const element = {
    element_id: ids.element,
    element_name: 'Send',
    element_type: 'userTask',
    lane_name: null,
    process_id: ids.Bill,
    process_name: 'Bill',
  };
  expect(items).toEqual([{ application_id: ids.ERP, application_name: 'ERP', elements: [element] }]);
  expect((await csv('element-application-map')).length).toBe(2);
});

it('process-map, with costs for those who may see them', async () => {
  const { items, organizations, business_contexts } = await read('process-map', admin);
  expect(items[0]).toMatchObject({
    id: ids.Bill,
    app_count: 2,
    total_cost: 42,
    apps: [
      { name: 'CRM', attributes: { costTotalAnnual: 40 }, rel_attributes: { usageType: 'reads' } },
      { name: 'ERP' },
    ],
    data_objects: [{ id: ids.Invoice, name: 'Invoice' }],
    org_ids: [ids.Finance],
    ctx_ids: [ids.Stream],
    has_diagram: true,
    element_count: 2,
  });
  const row = items[2];
  expect(row).toMatchObject({ app_count: 0, total_cost: 0, apps: [], has_diagram: false, element_count: 0 });
  expect(organizations).toEqual([{ id: ids.Finance, name: 'Finance' }]);
  expect(business_contexts).toEqual([{ id: ids.Stream, name: 'Stream' }]);
  const seen = await read('process-map');
  expect(seen.items[0].total_cost).toBeUndefined();
  expect(JSON.stringify(seen)).not.toContain('costTotalAnnual');
  expect((await csv('process-map'))[0]).not.toContain('cost');
  expect((await csv('process-map', admin))[0]).toContain('total_cost');
});

it('value-stream-matrix', async () => {
  const { cells, contexts, unassigned } = await read('value-stream-matrix');
  expect(contexts).toMatchObject([{ id: ids.Stream, sort_order: null, column_width: null }]);
  const cell = cells[ids.Finance!];
  expect(cell[ids.Stream!]).toMatchObject([{ id: ids.Bill, apps: [{ name: 'CRM' }, { name: 'ERP' }] }]);
  expect(cell.__none__).toMatchObject([{ id: ids.Collect, apps: [] }]);
  expect(unassigned).toMatchObject([{ id: ids.Rest }]);
  expect((await csv('value-stream-matrix')).length).toBe(3);
});

it('are drawn, each with its texts', async () => {
  const drawn: [name: string, ...texts: string[]][] = [
    ['dashboard', 'Covered by diagrams', '33 %', 'Business Processes by risk level', 'Critical', 'No value'],
    ['capability-process-matrix', 'Business Processes by business capability', 'Invoicing', 'Bill'],
    ['process-application-matrix', 'Business Processes by application', 'CRM', 'ERP'],
    [
      'process-dependencies',
      'Dependencies of business processes',
      'Collect',
      '1 card without dependencies left out',
    ],
    ['capability-heatmap?metric=high_risk_count', 'Processes of high or critical risk', 'Selling'],
    ['element-application-map', 'Applications in process diagrams', 'ERP'],
    ['process-map', 'Map of business processes', 'Rest'],
    ['value-stream-matrix', 'Finance', 'Stream', 'No value', '1 process without an organization left out'],
  ];
  for (const [name, ...told] of drawn) {
    const svg = await viewer.get(`/api/v1/reports/bpm/${name}`, { accept: 'image/svg+xml' });
    expect([svg.status, svg.headers['content-type']], svg.text).toEqual([
      200,
      'image/svg+xml; charset=utf-8',
    ]);
    const { texts } = readPicture(svg.text);
    const all = texts.map(({ text, title }) => title ?? text).join('\n');
    for (const text of told) expect(all, name).toContain(text);
    expect(meeting(texts), name).toEqual([]);
  }
});

it('follow every change, are filtered, looked at in the past, and made as workbooks', async () => {
  const url = '/api/v1/reports/bpm';
  expect((await read('element-application-map?filter=name%20%3D%20%22Rest%22')).items).toEqual([]);
  for (const name of [
    'capability-process-matrix',
    'process-dependencies',
    'capability-heatmap',
    'value-stream-matrix',
  ])
    await ok(viewer.get(`${url}/${name}?as_of=${before}`));
  expect((await viewer.get(`${url}/process-map`, { accept: XLSX })).raw.subarray(0, 2).toString()).toBe('PK');
  await ok(admin.put(`/api/v1/bpm/processes/${ids.Bill}/elements/${ids.element}`, {}));
  expect((await read('element-application-map')).items).toEqual([]);
  const name = randomUUID();
  await admin.post('/api/v1/cards', { type: 'BusinessProcess', name });
  expect((await read('dashboard')).total_processes).toBe(4);
});
