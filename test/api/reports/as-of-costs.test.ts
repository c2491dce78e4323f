import { ok, openApp, type TestClient } from '../../support/harness.ts';

const section = (...fields: object[]) => [{ section: 'a', fields }];
const secret = { key: 'secret', label: 'Secret', type: 'cost' };
const number = { key: 'number', label: 'Number', type: 'number' };
const COST = 565_656.5;

const { t, db, admin } = await openApp(['admin']);
const noCosts = await t.holding(
  'inventory.view',
  'relations.view',
  'reports.ea_dashboard',
  'reports.portfolio',
);
await admin.post('/api/v1/metamodel/types', {
  key: 'Engine',
  label: 'Engine',
  fields_schema: section(secret, number),
});
await admin.card({
  type: 'Engine',
  name: 'first',
  attributes: { secret: COST, number: 7 },
  lifecycle: { active: '2020-01-01' },
});
const past: string = (await db.raw('select utc(clock_timestamp()) as now')).rows[0].now;

async function shown(client: TestClient): Promise<string> {
  const texts: string[] = [];
  for (const path of ['roadmap', 'landscape', 'portfolio', 'dependencies', 'app-portfolio'])
    texts.push((await client.get(`/api/v1/reports/${path}?type=Engine&as_of=${past}`)).text);
  const query = await client.post('/api/v1/reports/query', {
    from: ['Engine'],
    as_of: past,
    dimensions: [{ field: 'name' }],
    measures: [{ fn: 'max', field: 'attributes.secret', as: 'c' }],
  });
  return [...texts, query.text].join('\n');
}

it.each([
  ['removed', section(number)],
  ['made again as a number', section(number, { ...secret, type: 'number' })],
])('shows no past costs of a field that is %s', async (_, fields) => {
  await ok(admin.patch('/api/v1/metamodel/types/Engine', { fields_schema: fields }));
  expect(await shown(noCosts)).not.toContain('565656');
  // what was no cost is shown, and costs to those who see costs
  const roadmap = `/api/v1/reports/roadmap?type=Engine&as_of=${past}`;
  expect((await noCosts.get(roadmap)).text).toContain('first');
  expect((await admin.get(roadmap)).text).toContain('565656');
});
