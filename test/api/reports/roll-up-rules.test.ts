import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const { t, admin } = await openApp(['admin']);
const noCosts = await t.holding('inventory.view', 'reports.ea_dashboard', 'relations.view');
await storeInventory(
  t,
  {
    BusinessCapability: { Finance: {}, Ledgers: { parent: 'Finance' }, Unused: {} },
    Application: {
      good: { attributes: { costTotalAnnual: 300, technicalSuitability: 'fullyAppropriate' } },
      bad: { attributes: { costTotalAnnual: 100, technicalSuitability: 'inappropriate' } },
      free: { attributes: { technicalSuitability: 'unreasonable' } },
      unknown: { attributes: { costTotalAnnual: 50 } },
    },
  },
  [
    ['relAppToBC', 'good', 'Finance'],
    ['relAppToBC', 'bad', 'Ledgers'],
    ['relAppToBC', 'free', 'Ledgers'],
    ['relAppToBC', 'unknown', 'Ledgers'],
  ],
);

const path = '/api/v1/reports/capability-heatmap?color_field=technicalSuitability';

it('rolls the options of a field up by the worst, the share, and the mean by cost', async () => {
  const figures = async (query: string) =>
    pluck((await ok(admin.get(`${path}${query}`))).items, 'name', 'options', 'worst', 'share', 'mean');
  const ledgers = ['Ledgers', { inappropriate: 1, unreasonable: 1 }, 'inappropriate', 100, 1];
  const unused = ['Unused', {}, null, null, null];
  expect(await figures('')).toEqual([
    ['Finance', { fullyAppropriate: 1 }, 'fullyAppropriate', 0, 4],
    ledgers,
    unused,
  ]);
  const all = { fullyAppropriate: 1, inappropriate: 1, unreasonable: 1 };
  expect(await figures('&roll_up=true&page_size=1')).toEqual([
    ['Finance', all, 'inappropriate', 66.67, 3.25],
    ledgers,
    unused,
  ]);
  const csv = await admin.get(path, { accept: 'text/csv' });
  expect(csv.text).toContain('worst,share,mean');
  expect((await ok(admin.get('/api/v1/reports/capability-heatmap'))).items[0]).not.toHaveProperty('worst');
});

it('colours pictures by the rule', async () => {
  const drawn = async (rule: string) =>
    (await admin.get(`${path}&rule=${rule}`, { accept: 'image/svg+xml' })).text;
  expect(await drawn('worst')).toContain('the worst one counts');
  const mean = await drawn('mean');
  expect(mean).toContain('Shade: Mean, weighted by cost');
  expect(mean).toContain('>3.25</text>');
  expect(await drawn('share')).toContain('>67 %</text>');
  expect(await drawn('sum')).toContain('Business Capabilities by applications');
  await expectProblem(admin.get(`${path}&rule=best`), 422);
});

it('takes the most critical one of the criticality for the worst', async () => {
  const field = 'businessCriticality';
  const { id } = await admin.create('/api/v1/cards', { type: 'BusinessCapability', name: 'Zeta' });
  for (const value of ['administrativeService', 'missionCritical', 'businessCritical']) {
    const app = await admin.create('/api/v1/cards', {
      type: 'Application',
      name: value,
      attributes: { [field]: value },
    });
    await admin.create('/api/v1/relations', { type: 'relAppToBC', source_id: app.id, target_id: id });
  }
  const { items } = await ok(admin.get(`/api/v1/reports/capability-heatmap?color_field=${field}`));
  expect(items.at(-1)).toMatchObject({ name: 'Zeta', worst: 'missionCritical', share: 66.67 });
});

it('has no mean by cost without costs.view', async () => {
  const { items } = await ok(noCosts.get(path));
  expect(items[0]).not.toHaveProperty('mean');
  expect(items[0].share).toBe(0);
  await expectProblem(noCosts.get(`${path}&rule=mean`), 403, 'costs.view');
});
