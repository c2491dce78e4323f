import { drawChart } from '../../../../reports/kernel/charts/charts.draw.ts';
import type {
  BoxesChart,
  BubblesChart,
  Chart,
  ColumnsChart,
  MatrixChart,
  RoadmapChart,
  SingleChart,
  TreemapChart,
} from '../../../../reports/kernel/charts/charts.types.ts';
import { circlesOf, readPicture } from './boxes.ts';
import { samples } from './samples.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const textsOf = (chart: Chart, width = 1_200) =>
  readPicture(drawChart(chart, workspace, { width })).texts.map(({ text }) => text);

const numbered = <T>(count: number, of: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => of(at));

describe('a matrix', () => {
  const lines = numbered(100, (at) => ({ name: `Card ${at}` }));
  const matrix: MatrixChart = {
    kind: 'matrix',
    title: 'Processes by application',
    rowAxis: 'Business Process Group',
    columnAxis: 'Application',
    valueAxis: 'Related',
    unit: 'count',
    rows: lines,
    columns: lines.slice(0, 5),
    cells: lines.map((_, at): [number, number, number] => [at, at % 5, 1]),
  };

  it('has dots for the pairs of single cards, and numbers where cards are combined', () => {
    const svg = drawChart(matrix, workspace);
    expect(circlesOf(svg)).toHaveLength(59);
    const texts = textsOf(matrix);
    expect(texts.filter((text) => /^\d+$/.test(text)).map(Number)).toEqual([9, 8, 8, 8, 8]);
    expect(texts.join(' ')).toContain('Rows and columns with few pairs are combined');
  });

  it('has room for its titles beside short names', () => {
    const short = numbered(3, (at) => ({ name: `C${at}` }));
    const cells: MatrixChart['cells'] = [[0, 0, 1]];
    const texts = textsOf({ ...matrix, rows: short, columns: short, cells });
    expect(texts).toEqual(expect.arrayContaining(['Business Process Group ↓', 'Application →']));
  });
});

describe('boxes', () => {
  const boxes = (items: number): BoxesChart => ({
    kind: 'boxes',
    title: 'Map',
    member: ['application', 'applications'],
    gaps: true,
    boxes: [
      ...numbered(80, (at) => ({
        id: String(at),
        name: `Area ${at}`,
        parent_id: null,
        items: at < items ? [{ name: 'Shop' }] : [],
      })),
      { id: 'none', name: 'Ungrouped', parent_id: null, items: [{ name: 'Alone' }], isLast: true },
    ],
  });

  it('count what stands apart neither among the drawn nor among the others', () => {
    const texts = textsOf(boxes(3));
    expect(texts.join(' ')).toContain('The 60 largest of 80');
    expect(texts).toEqual(expect.arrayContaining(['20 others', 'Ungrouped', 'Alone']));
  });

  it('call none the largest where all are equal', () => {
    expect(textsOf(boxes(0)).join(' ')).toContain('The first 60 of 80 are drawn');
  });
});

it('a treemap combines tiles without room for a name', () => {
  const chart: TreemapChart = {
    kind: 'treemap',
    title: 'Cost',
    valueAxis: 'Cost',
    unit: 'currency',
    items: [
      { name: 'Large', value: 1_000_000 },
      ...numbered(40, (at) => ({ name: `Small ${at}`, value: 2_000 })),
    ],
  };
  const texts = textsOf(chart);
  expect(texts).toContain('Large');
  expect(texts).toContain('Other (40)');
});

it('a roadmap of many cards has room for its numbers in little width', () => {
  const chart: RoadmapChart = {
    kind: 'roadmap',
    title: 'Roadmap',
    itemAxis: 'Card',
    phases: [
      { name: 'Active', paint: { phase: 'active' } },
      { name: 'End of life', paint: { phase: 'endOfLife' } },
    ],
    items: numbered(9_000, (at) => ({
      name: `Card ${at}`,
      dates: [null, `202${7 + (at % 2)}-0${1 + (at % 9)}-10`],
    })),
    today: '2026-11-30',
  };
  const cells = (width: number) =>
    readPicture(drawChart(chart, workspace, { width })).texts.filter(({ text }) =>
      /^\d,?\d{2,3}$/.test(text),
    );
  // totals and the numbers of quarters
  const numbers = cells(390).map(({ text }) => Number(text.replace(',', '')));
  const rows = (drawChart(chart, workspace, { width: 390 }).match(/rx="3"/g) ?? []).length;
  expect(numbers.length).toBeGreaterThanOrEqual(rows);
  expect(rows).toBeGreaterThan(4);
  expect(textsOf(chart).join(' ')).not.toContain('Next change first');
  expect(textsOf({ ...chart, items: chart.items.slice(0, 9) }).join(' ')).toContain('Next change first');
});

it('a circle alone in a narrow cell has its name, cut to the cell', () => {
  const chart = {
    ...(samples(1).bubbles as BubblesChart),
    items: [{ name: 'Customer Relations', x: 0, y: 0 }],
  };
  const texts = readPicture(drawChart(chart, workspace, { width: 390 })).texts;
  expect(texts.find(({ title }) => title === 'Customer Relations')!.text).toMatch(/^Cust.*…$/);
});

it('sums of columns stand over the line of today', () => {
  const chart = samples(10).columns as ColumnsChart;
  const [first] = chart.items;
  const svg = drawChart({ ...chart, today: { name: first!.name, passed: 0.5 } }, workspace);
  const sum = svg.lastIndexOf('paint-order="stroke"');
  expect(svg.indexOf('stroke-dasharray')).toBeGreaterThan(0);
  expect(svg.indexOf('stroke-dasharray')).toBeLessThan(sum);
});

it.each<Partial<SingleChart> & { kind: SingleChart['kind'] }>([
  { kind: 'bars', items: [] },
  { kind: 'columns', items: [] },
  { kind: 'treemap', items: [] },
  { kind: 'matrix', rows: [], columns: [], cells: [] },
  { kind: 'boxes', boxes: [] },
  { kind: 'bubbles', items: [] },
  { kind: 'roadmap', items: [] },
  { kind: 'graph', nodes: [], edges: [] },
  { kind: 'lines', times: [], series: [] },
  { kind: 'list', rows: [] },
])('an empty picture of kind $kind says why', (change) => {
  const chart = { ...samples(1)[change.kind], ...change, empty: 'No card has a date yet' } as SingleChart;
  expect(textsOf(chart)).toContain('No card has a date yet');
});
