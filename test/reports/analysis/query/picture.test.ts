import type { ReportQuery } from '../../../../domain/inventory/reports/report.job.ts';
import { command } from '../../../../domain/kernel/command.ts';
import { queryChart } from '../../../../reports/analysis/query/picture/picture.draw.ts';
import { readPictureCells } from '../../../../reports/analysis/query/picture/picture.read.ts';
import { shapeOf } from '../../../../reports/analysis/query/picture/picture.shape.ts';
import { planQuery } from '../../../../reports/analysis/query/query.plan.ts';
import { withQuerySnapshot } from '../../../../reports/analysis/query/query.run.ts';
import type {
  BarsChart,
  Chart,
  FiguresChart,
  LinesChart,
} from '../../../../reports/kernel/charts/charts.types.ts';
import { closeAfterAll, createTestApp } from '../../../support/harness.ts';
import { storeLandscape } from './query.fixture.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const cost = { fn: 'sum' as const, field: 'attributes.costTotalAnnual' };
const critical = { field: 'attributes.businessCriticality' };

const t = closeAfterAll(await createTestApp());
const apps = await storeLandscape(t);
// more than one picture shows
await command(await t.ctx(), async ({ sql, raise }) => {
  await sql.raw(`insert into cards (type, name, status, attributes)
       select 'ITComponent', 'Item ' || n, 'ACTIVE', jsonb_build_object('costTotalAnnual', n)
       from generate_series(1, 300) n`);
  raise('cards:ITComponent');
});

async function drawn(asked: Partial<ReportQuery>, limit?: number): Promise<Chart> {
  const query: ReportQuery = {
    from: ['Application'],
    filter: '',
    dimensions: [],
    measures: [{ fn: 'count' }],
    having: [],
    sort: [],
    ...asked,
  };
  const ctx = await t.ctx();
  const plan = await planQuery(ctx, query);
  const shape = shapeOf(query, plan, limit);
  const read = await withQuerySnapshot(t.services.db, { asOf: undefined, costs: true }, 20_000, (snapshot) =>
    readPictureCells(snapshot, query, plan, shape, true),
  );
  return queryChart({ ...read, query, plan, shape, metamodel: ctx.metamodel, workspace });
}
const total = (values: (number | null)[]) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

it('shows figures of all cards, and days as texts', async () => {
  const chart = await drawn({
    measures: [{ fn: 'count' }, cost, { fn: 'max', field: 'attributes.reviewedOn' }],
  });
  const reviewed = apps
    .map(({ attributes }) => String(attributes.reviewedOn ?? ''))
    .sort()
    .at(-1)!;
  const costs = apps.map(({ attributes }) => (attributes.costTotalAnnual as number | undefined) ?? 0);
  expect(chart).toMatchObject({ kind: 'figures', note: 'Application' });
  expect((chart as FiguresChart).items).toEqual([
    { name: 'Cards', value: 40, unit: 'count' },
    { name: 'Sum of Total Annual Cost', value: total(costs), unit: 'currency' },
    {
      name: 'Latest Reviewed on',
      value: null,
      unit: 'number',
      text: reviewed.split('-').reverse().join('.'),
    },
  ]);
  const dates = await drawn({ dimensions: [critical], measures: [{ fn: 'max', field: 'updated_at' }] });
  expect(dates.kind).toBe('figures');
  expect((dates as FiguresChart).items[0]?.text).toMatch(/^\d\d\.\d\d\.\d{4}$/);
});

it('shows bars of one dimension, the greatest first, a picture for each unit', async () => {
  const count = (option: string | undefined) =>
    apps.filter(({ attributes }) => attributes.businessCriticality === option).length;
  const bars = (await drawn({ dimensions: [critical] })) as BarsChart;
  expect(bars).toMatchObject({
    kind: 'bars',
    title: 'Cards by Business Criticality',
    itemAxis: 'Business Criticality',
    valueAxis: 'Cards',
    unit: 'count',
  });
  const expected = [
    { name: 'Mission Critical', values: [count('missionCritical')] },
    { name: 'Business Critical', values: [count('businessCritical')] },
    { name: 'Business Operational', values: [count('businessOperational')] },
    { name: 'No value', values: [count(undefined)] },
  ];
  expect(bars.items.map(({ values }) => values[0])).toEqual(
    expected.map(({ values }) => values[0]).sort((a, b) => b! - a!),
  );
  expect(new Set(bars.items.map(({ name, values }) => JSON.stringify({ name, values })))).toEqual(
    new Set(expected.map((item) => JSON.stringify(item))),
  );
  const panels = await drawn({
    dimensions: [critical],
    measures: [{ fn: 'count' }, cost, { fn: 'distinct', field: 'name' }, { fn: 'min', field: 'created_at' }],
  });
  expect(panels).toMatchObject({
    kind: 'panels',
    panels: [
      { unit: 'count', beside: true, series: ['Cards', 'Different Name'] },
      { unit: 'currency', series: ['Sum of Total Annual Cost'] },
    ],
  });
  expect(JSON.stringify(panels)).toContain('Not drawn: Earliest Created at');
});

it('takes together what there is no room for where that adds up, and says so', async () => {
  const of = { from: ['ITComponent'], filter: 'name ~ "Item "', dimensions: [{ field: 'name' }] };
  const sums = (await drawn({ ...of, measures: [cost] })) as BarsChart;
  expect(sums.items).toHaveLength(200);
  expect(sums.items[0]).toEqual({ name: 'Item 300', values: [300] });
  // 1 to 101
  expect(sums.items.at(-1)).toEqual({ name: '101 others', values: [(101 * 102) / 2] });
  expect(sums.note).toContain('The largest 199 of 300, the others combined');
  const sorted = (await drawn({ ...of, sort: [{ column: 'name', dir: 'asc' }] })) as BarsChart;
  expect([sorted.items[0]?.name, sorted.items.at(-1)?.values]).toEqual(['Item 1', [101]]);
  expect(sorted.note).toContain('The first 199 of 300');
  const averages = (await drawn({ ...of, measures: [{ ...cost, fn: 'avg' }] })) as BarsChart;
  expect([averages.items.length, averages.items.at(-1)?.name]).toEqual([199, 'Item 102']);
  expect(averages.note).toContain('The first 199 of 300 are drawn');
});

it('parts the bars of the first dimension by the second', async () => {
  const parted = (await drawn({
    dimensions: [{ field: 'tags.Region' }, critical],
    measures: [{ fn: 'count' }, cost],
  })) as BarsChart;
  expect(parted).toMatchObject({
    kind: 'bars',
    beside: false,
    series: ['Mission Critical', 'Business Critical', 'Business Operational', 'No value'],
  });
  expect(parted.note).toBe('Application · Not drawn: Sum of Total Annual Cost');
  for (const region of ['North', 'South', 'No value']) {
    const members = apps.filter(({ tags }) =>
      region === 'No value' ? tags.length === 0 : tags.includes(region),
    );
    const values = parted.items.find(({ name }) => name === region)!.values;
    expect(total(values), region).toBe(members.length);
    expect(values[0] ?? 0, region).toBe(
      members.filter(({ attributes }) => attributes.businessCriticality === 'missionCritical').length,
    );
  }
  const averages = (await drawn({
    dimensions: [critical, { field: 'phase' }],
    measures: [{ ...cost, fn: 'avg' }],
  })) as BarsChart;
  expect([averages.beside, averages.series.at(-1)]).toEqual([true, 'No lifecycle']);
  const many = (await drawn({ from: [], dimensions: [{ field: 'type' }, { field: 'name' }] })) as BarsChart;
  expect([many.series.length, many.rest, many.series.at(-1)]).toEqual([
    10,
    true,
    expect.stringMatching(/ others$/),
  ]);
  expect(total(many.items.flatMap(({ values }) => values))).toBe(40 + 9 + 3 + 300);
});

it('draws lines over time, zero where nothing was and broken where nothing is known', async () => {
  const years = apps
    .map(({ lifecycle }) => lifecycle?.active?.slice(0, 4))
    .filter((year) => year !== undefined);
  const of = { dimensions: [{ field: 'lifecycle.active', bucket: 'year' as const }] };
  const lines = (await drawn({
    ...of,
    filter: 'lifecycle.active not in ("2022-06-01", "2023-06-01", "2024-06-01")',
  })) as LinesChart;
  expect(lines).toMatchObject({ kind: 'lines', step: 'year', timeAxis: 'Active (year)', unit: 'count' });
  const kept = years.filter((year) => !['2022', '2023', '2024'].includes(year));
  const at = (year: string) => lines.series[0]!.values[lines.times.indexOf(`${year}-01-01T00:00:00.000Z`)];
  for (const year of new Set(kept)) expect(at(year), year).toBe(kept.filter((one) => one === year).length);
  // the first and the last year of the gap
  expect([at('2022'), at('2023'), at('2024')]).toEqual([0, undefined, 0]);
  const averages = (await drawn({
    ...of,
    filter: 'lifecycle.active != "2022-06-01"',
    measures: [{ ...cost, fn: 'avg' }],
  })) as LinesChart;
  expect(averages.series[0]!.values[averages.times.indexOf('2022-01-01T00:00:00.000Z')]).toBe(null);
  const groups = (await drawn({ dimensions: [critical, ...of.dimensions] })) as LinesChart;
  const names = groups.series.map(({ name }) => name);
  expect(names).toEqual(['Mission Critical', 'Business Critical', 'Business Operational', 'No value']);
  expect(total(groups.series.flatMap(({ values }) => values))).toBe(years.length);
  expect(groups.note).toBe(`Application · Not drawn: without a date (${40 - years.length})`);
});

it('shows lists of cards by their names, and no more than the limit', async () => {
  const list = {
    dimensions: [{ field: 'name' }, { field: 'id' }],
    measures: [{ ...cost, as: 'cost' }],
    sort: [{ column: 'cost', dir: 'desc' as const }],
  };
  const costOf = ({ attributes }: (typeof apps)[number]) => Number(attributes.costTotalAnnual ?? -1);
  const most = Math.max(...apps.map(costOf));
  const chart = (await drawn(list, 5)) as BarsChart;
  expect(chart).toMatchObject({ kind: 'bars', itemAxis: 'Name', series: ['cost'] });
  expect(chart.note).toMatch(/5 of 40/);
  expect(chart.items).toHaveLength(5);
  expect(chart.items[0]).toMatchObject({ name: expect.stringMatching(/^App \d+$/), values: [most] });
  expect(chart.items.map(({ id }) => id)).toEqual(Array(5).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
  // the others are combined without a limit only
  const components = { from: ['ITComponent'], dimensions: [{ field: 'name' }], measures: [cost] };
  expect(((await drawn(components, 3)) as BarsChart).items.map(({ name }) => name)).toEqual([
    'Item 300',
    'Item 299',
    'Item 298',
  ]);
});
