import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const url = '/api/v1/reports/cost-periods';
const read = (query: string) => ok(admin.get(`${url}?${query}`));
const add = (
  id: string,
  kind: string,
  period_start: string,
  period_end: string,
  amount: number,
  more: object = {},
) => admin.create(`/api/v1/cards/${id}/costs`, { kind, period_start, period_end, amount, ...more });
const amounts = (items: { period: string; kind: string; amount: number }[]) =>
  items.map(({ period, kind, amount }) => [period, kind, amount]);

const card = await admin.card({ name: 'Harbour' });
const other = await admin.card({ type: 'ITComponent', name: 'Server' });
const quay = await add(card.id, 'licence', '2031-01-01', '2031-12-31', 365);
await add(card.id, 'staff', '2031-12-01', '2032-01-31', 62);
await add(other.id, 'staff', '2032-01-01', '2032-01-31', 10);

describe('costs by period', () => {
  it('are shared among fiscal years and months by days', async () => {
    const years = await read('from=2031-01-01&to=2032-12-31');
    expect(amounts(years.items)).toEqual([
      ['2031', 'licence', 365],
      ['2031', 'staff', 31],
      ['2032', 'staff', 41],
    ]);
    expect(years).toMatchObject({ currency: 'USD', total: 437, left_out: 0 });
    expect(years.items[0]).toMatchObject({
      period_start: '2031-01-01',
      period_end: '2031-12-31',
      label: 'Licence',
    });
    const months = await read('by=month&type=Application&from=2031-12-15&to=2032-01-01');
    expect(amounts(months.items)).toEqual([
      ['2031-12', 'licence', 31],
      ['2031-12', 'staff', 31],
      ['2032-01', 'staff', 31],
    ]);
    expect((await read('by=month')).items).toEqual([]);
    await ok(admin.patch('/api/v1/settings/fiscal-year-start', { month: 12 }));
    const fiscal = await read('type=Application&from=2031-12-31&to=2031-12-31');
    expect(amounts(fiscal.items)).toEqual([
      ['2032', 'licence', 31],
      ['2032', 'staff', 62],
    ]);
    await ok(admin.patch('/api/v1/settings/fiscal-year-start', { month: 1 }));
  });

  it('are by default those of all years with amounts, up to a number of years around the current one', async () => {
    const year = new Date().getUTCFullYear();
    const yearsOf = async (query: string) => {
      const { items, from, to, has_earlier, has_later } = await read(query);
      return { years: [...new Set(pluck(items, 'period'))], span: [from, to], has_earlier, has_later };
    };
    const provider = await admin.card({ type: 'Provider', name: 'Landlord' });
    expect(await yearsOf('type=Provider')).toEqual({
      years: [],
      span: [`${year}-01-01`, `${year}-12-31`],
      has_earlier: false,
      has_later: false,
    });
    for (const n of [-12, -3, 4])
      await add(provider.id, 'other', `${year + n}-01-01`, `${year + n}-12-31`, 10);
    const first = await yearsOf('type=Provider');
    expect(first).toEqual({
      years: [`${year - 3}`, `${year + 4}`],
      span: [`${year - 10}-01-01`, `${year + 4}-12-31`],
      has_earlier: true,
      has_later: false,
    });
    expect(await yearsOf('type=Provider&years=12')).toMatchObject({
      span: [`${year - 12}-01-01`, `${year + 4}-12-31`],
      has_earlier: false,
    });
    expect(await yearsOf('type=Provider&years=1')).toMatchObject({
      years: [],
      has_earlier: true,
      has_later: true,
    });
    expect((await yearsOf(`type=Provider&from=${year + 30}-01-01`)).span).toEqual([
      `${year + 30}-01-01`,
      `${year + 30}-12-31`,
    ]);
    const chart = { accept: 'application/vnd.estate.chart+json' };
    const noteOf = async (query: string) => JSON.parse((await admin.get(`${url}?${query}`, chart)).text).note;
    expect(await noteOf('type=Provider')).toBe(
      `Fiscal years ${year - 10} to ${year + 4}; there are further amounts before`,
    );
    expect(await noteOf('type=Provider&years=12')).toBe(
      `Fiscal years ${year - 12} to ${year + 4}: all that have amounts`,
    );
  });

  it('are those of relations between visible cards, for readers of relations', async () => {
    const relation = await admin.relate('relAppToITC', card.id, other.id);
    const cost = { kind: 'other', period_start: '2033-01-01', period_end: '2033-12-31', amount: 12 };
    await admin.create(`/api/v1/relations/${relation.id}/costs`, cost);
    const query = 'of=relations&from=2033-01-01&to=2033-12-31';
    for (const type of ['', '&type=Application', '&type=ITComponent'])
      expect(amounts((await read(`${query}${type}`)).items)).toEqual([['2033', 'other', 12]]);
    expect((await read(`${query}&type=Provider`)).items).toEqual([]);
    expect((await read('from=2033-01-01&to=2033-12-31')).items).toEqual([]);
    const blind = await t.holding('inventory.view', 'reports.ea_dashboard', 'costs.view');
    await expectProblem(blind.get(`${url}?${query}`), 403, 'relations.view');
    await ok(admin.post(`/api/v1/cards/${other.id}/archive`, {}));
    expect((await read(query)).items).toEqual([]);
    await ok(admin.post(`/api/v1/cards/${other.id}/restore`, {}));
  });

  it('leave out what has no exchange rate, and are read as of a time, as a file and as a chart', async () => {
    const before = new Date().toISOString();
    await ok(admin.patch('/api/v1/settings/exchange-rates', { rates: [{ currency: 'CHF', rate: 2 }] }));
    await add(card.id, 'other', '2031-06-01', '2031-06-30', 30, { currency: 'CHF' });
    await ok(admin.patch(`/api/v1/costs/${quay.id}`, { amount: 730 }));
    const query = 'type=Application&from=2031-01-01&to=2031-12-31';
    const now = await read(query);
    expect(amounts(now.items)).toEqual([
      ['2031', 'licence', 730],
      ['2031', 'staff', 31],
      ['2031', 'other', 60],
    ]);
    await ok(admin.patch('/api/v1/settings/exchange-rates', { rates: [] }));
    expect(await read(query)).toMatchObject({ total: 761, left_out: 1 });
    const then = await read(`${query}&as_of=${before}`);
    expect(amounts(then.items)).toEqual([
      ['2031', 'licence', 365],
      ['2031', 'staff', 31],
    ]);
    const csv = await admin.get(`${url}?${query}`, { accept: 'text/csv' });
    expect(csv.text.trim().split(/\r?\n/)).toHaveLength(3);
    const svg = await admin.get(`${url}?${query}`, { accept: 'image/svg+xml' });
    expect(svg.text).toContain('Licence');
  });

  it('are refused to those who see no costs, and for periods that do not fit', async () => {
    await expectProblem(viewer.get(url), 403, 'costs.view');
    await expectProblem(
      admin.get(`${url}?from=2031-02-01&to=2030-01-01&by=month`),
      422,
      'validation_failed',
      'to',
    );
    await expectProblem(admin.get(`${url}?from=1900-01-01&by=month`), 422, 'validation_failed', 'from');
    expect(pluck((await read('from=2031-01-01&to=2031-01-01')).items, 'period')).toEqual(['2031', '2031']);
  });
});
