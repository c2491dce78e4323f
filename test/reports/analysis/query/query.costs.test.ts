import { ok, openApp } from '../../../support/harness.ts';

const { admin, viewer } = await openApp(['admin', 'viewer']);
const post = async (path: string, body: object) => (await admin.post(`/api/v1${path}`, body)).body;
const query = (body: object, client = admin) => client.post('/api/v1/reports/query', body);

const cost = (kind: string, year: number, amount: number, currency = 'USD') => ({
  kind,
  period_start: `${year}-01-01`,
  period_end: `${year}-12-31`,
  amount,
  currency,
});

beforeAll(async () => {
  await ok(admin.patch('/api/v1/settings/exchange-rates', { rates: [{ currency: 'EUR', rate: 2 }] }));
  const costs = {
    Ledger: [cost('licence', 2026, 100), cost('licence', 2026, 10, 'EUR'), cost('staff', 2026, 7)],
    Payroll: [cost('licence', 2026, 50), cost('licence', 2027, 999)],
    Portal: [],
  };
  const provider = await post('/cards', { type: 'Provider', name: 'Zenith' });
  for (const [name, own] of Object.entries(costs)) {
    const card = await post('/cards', { type: 'Application', name });
    for (const one of own) await post(`/cards/${card.id}/costs`, one);
    await post('/relations', { type: 'relProviderToApp', source_id: provider.id, target_id: card.id });
  }
});

it('sums the costs of a fiscal year, of one kind or of all', async () => {
  const { body } = await query({
    from: ['Application'],
    dimensions: [{ field: 'name' }],
    measures: [
      { fn: 'sum', field: 'cost.2026.licence' },
      { fn: 'sum', field: 'cost.2026' },
    ],
    sort: [{ column: 'sum(cost.2026)', dir: 'desc' }],
  });
  expect(body.rows).toEqual([
    ['Ledger', 120, 127],
    ['Payroll', 50, 50],
    ['Portal', null, null],
  ]);
  expect(body.columns[1]).toMatchObject({ type: 'number', unit: 'USD' });
});

it('reads those of related cards, and of fiscal years that begin in another month', async () => {
  const of = {
    from: ['Provider'],
    measures: [{ fn: 'sum', field: 'relation.relProviderToApp.target.cost.2026' }],
  };
  expect((await query(of)).body.rows).toEqual([[177]]);
  await ok(admin.patch('/api/v1/settings/fiscal-year-start', { month: 4 }));
  const share = (177 * 90) / 365;
  expect((await query(of)).body.rows[0][0]).toBeCloseTo(share, 1);
});

it('is refused without the right to see costs, and with another path', async () => {
  const sum = (field: string) => ({ from: ['Application'], measures: [{ fn: 'sum', field }] });
  expect(await query(sum('cost.2026'), viewer)).toMatchObject({
    status: 403,
    body: { permission: 'costs.view' },
  });
  for (const field of ['cost', 'cost.20', 'name.cost.2026', 'cost.2026.licence.more'])
    expect(await query(sum(field))).toMatchObject({ status: 422 });
});
