import { drawChart, pictureOf } from '../../../../reports/kernel/charts/charts.draw.ts';
import { clustered, groupLines } from '../../../../reports/kernel/charts/charts.grouping.ts';
import { decapitalised } from '../../../../reports/kernel/charts/charts.labels.ts';
import { layersOf } from '../../../../reports/kernel/charts/charts.layers.ts';
import { lookOf } from '../../../../reports/kernel/charts/charts.look.ts';
import { formatMonth } from '../../../../reports/kernel/charts/charts.numbers.ts';
import { restOf, treesOf } from '../../../../reports/kernel/charts/charts.tree.ts';
import type { BoxesChart, Chart, GraphChart } from '../../../../reports/kernel/charts/charts.types.ts';
import { readPicture } from './boxes.ts';

const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY' };
const textsOf = (chart: Chart, width = 1_200): string[] =>
  readPicture(drawChart(chart, workspace, { width })).texts.map(({ text }) => text);

const boxes = (more: Partial<BoxesChart>): BoxesChart => ({
  kind: 'boxes',
  title: 'Map',
  member: ['application', 'applications'],
  boxes: [],
  ...more,
});
const shared = { id: 'shared', name: 'Shared', value: 100 };

it('boxes count an item once in the value of all above it', () => {
  const chart = boxes({
    boxes: [
      { id: 'top', name: 'Top', parent_id: null },
      { id: 'a', name: 'A', parent_id: 'top', value: 100, items: [shared] },
      {
        id: 'b',
        name: 'B',
        parent_id: 'top',
        value: 107,
        items: [shared, { id: 'own', name: 'Own', value: 7 }],
      },
      { id: 'c', name: 'C', parent_id: 'b', value: 100, items: [shared] },
    ],
  });
  const [top] = treesOf(chart);
  expect(top).toMatchObject({ value: 107, below: 3 });
  expect([...top!.items.keys()]).toEqual(['shared', 'own']);
  expect(restOf([top!, top!], {})).toMatchObject({ value: 107, isRest: true });
  const rolled = chart.boxes.map((box) => ({ ...box, value: 1 }));
  expect(treesOf({ ...chart, boxes: rolled, rolledUp: true })[0]!.value).toBe(1);
});

it('boxes of more than 60 areas show the largest, and the others as one', () => {
  const areas = Array.from({ length: 100 }, (_, at) => ({
    id: String(at),
    name: `Area ${at}`,
    parent_id: null,
    items: Array.from({ length: at % 3 }, (_one, n) => ({ name: `App ${at} ${n}` })),
  }));
  const texts = textsOf(
    boxes({ gaps: true, boxes: [{ ...areas[2]!, id: 'x', name: 'Ungrouped', isLast: true }, ...areas] }),
  );
  expect(texts.filter((text) => /^Area \d+$/.test(text))).toHaveLength(60);
  expect(texts).toContain('Ungrouped');
  expect(texts).toContain('40 others');
  expect(texts).toContain('6 applications · 34 gaps');
  expect(texts.join(' ')).toContain('The 60 largest of 100');
  const few = textsOf(boxes({ boxes: [{ ...areas[2]!, name: 'Ungrouped', isLast: true }, areas[5]!] }));
  expect(few.indexOf('Ungrouped')).toBeGreaterThan(few.indexOf('Area 5'));
});

it('boxes without a value have no figure, and say so where none has one', () => {
  const scale = { name: 'Processes', unit: 'count' } as const;
  const of = (values: number[]) =>
    boxes({
      scale,
      boxes: values.map((value, at) => ({ id: `${at}`, name: `Box ${at}`, parent_id: null, value })),
    });
  const some = textsOf(of([0, 4]));
  expect(some.filter((text) => text === '0')).toHaveLength(1);
  const none = textsOf(of([0, 0]));
  expect(none).toContain('No processes yet');
  expect(none).not.toContain('0');
});

it('bars of cards without a value are hatched', () => {
  const svg = drawChart(
    {
      kind: 'bars',
      title: 'Cards by phase',
      itemAxis: 'Phase',
      valueAxis: 'Cards',
      unit: 'count',
      series: ['Cards'],
      items: [{ name: 'No lifecycle', values: [4], paint: 'none' }],
    },
    workspace,
  );
  expect(svg).toMatch(/<rect [^>]*fill="url\(#hatch-/);
});

it('layers do not cross lines that can be parallel, and have one legend entry for each name', () => {
  const node = (id: string, layer: number) => ({ id, name: id, group: `${layer}` });
  const chart: GraphChart = {
    kind: 'graph',
    title: 'Processes',
    layers: ['0', '1', '2'].map((key) => ({ key, name: `Level ${key}` })),
    groups: ['0', '1', '2'].map((key) => ({ key, name: 'Process', paint: 'accent', layer: key })),
    nodes: [node('a', 0), node('b', 0), node('c', 1), node('d', 1), node('e', 2)],
    edges: [
      { source: 'a', target: 'd' },
      { source: 'b', target: 'c' },
      { source: 'c', target: 'e' },
    ],
  };
  const [first, second] = layersOf(chart, 12).columns.map((column) => column.map(({ id }) => id));
  expect(first!.indexOf('a') < first!.indexOf('b')).toBe(second!.indexOf('d') < second!.indexOf('c'));
  expect(textsOf(chart)).not.toContain('Process');
  const kinds = {
    ...chart,
    groups: chart.groups.map((group, at) => ({ ...group, name: at > 0 ? 'Core' : 'Other' })),
  };
  expect(textsOf(kinds).filter((text) => text === 'Core')).toHaveLength(1);
});

it('a roadmap of many cards adds up the drawn quarters, with today within its quarter', () => {
  const chart: Chart = {
    kind: 'roadmap',
    title: 'Roadmap',
    itemAxis: 'Card',
    phases: [{ name: 'Active', paint: { phase: 'active' } }],
    today: '2026-11-30',
    groups: [{ key: 'a', name: 'All' }],
    items: Array.from({ length: 300 }, (_, n) => ({
      id: String(n),
      name: `Card ${n}`,
      group: 'a',
      dates: [n < 290 ? '2001-02-03' : '2026-10-02'],
    })),
  };
  const { texts } = readPicture(drawChart(chart, workspace));
  // drawn and summed, of the group and of its phase
  expect(texts.filter(({ text }) => text === '10').length).toBe(4);
  expect(texts.map(({ text }) => text)).not.toContain('300');
  expect(texts.map(({ text }) => text).join(' ')).toContain('290 changes lie outside of the drawn quarters');
  const centres = (name: string) =>
    texts.filter(({ text }) => text === name).map(({ x, width }) => x + width / 2);
  // two thirds of the quarter are over; its number stands in its middle
  expect(centres('Today')[0]).toBeGreaterThan(Math.min(...centres('10')));
});

it('columns show today within its quarter', () => {
  const today = (passed: number) => {
    const chart: Chart = {
      ...{ kind: 'columns', title: 'Ends', valueAxis: 'Cards', unit: 'count' },
      series: [{ name: 'Applications', paint: 'accent' }],
      items: ['Q1', 'Q2', 'Q3'].map((name) => ({ name, values: [1] })),
      today: { name: 'Q2', passed },
    };
    const { texts } = readPicture(drawChart(chart, workspace));
    return texts.find(({ text }) => text === 'Today')!.x;
  };
  expect(today(0.25) - today(0)).toBeCloseTo((today(1) - today(0)) / 4);
  expect(today(1)).toBeGreaterThan(today(0) + 50);
});

it('a long roadmap combines what has no further date', () => {
  const item = (at: number, end: string | null) => ({ name: `Card ${at}`, dates: ['2020-01-01', end] });
  const chart: Chart = {
    kind: 'roadmap',
    title: 'Roadmap',
    itemAxis: 'Card',
    phases: [
      { name: 'Active', paint: { phase: 'active' } },
      { name: 'End of life', paint: { phase: 'endOfLife' } },
    ],
    items: Array.from({ length: 80 }, (_, at) =>
      item(at, at < 5 ? '2028-01-01' : at < 8 ? '2025-01-01' : null),
    ),
    today: '2026-06-30',
  };
  const texts = textsOf(chart);
  expect(texts.filter((text) => text.startsWith('Card '))).toHaveLength(5);
  expect(texts).toContain('75 without change');
  expect(texts).toContain('72 active, 3 end of life');
  const next = textsOf({ ...chart, most: 5 });
  expect(next.filter((text) => text.startsWith('Card '))).toHaveLength(5);
  expect(next).toContain('The first 5 of 80 are drawn; all are in the tables · Next change first');
});

it('a roadmap says how many cards lie outside of its axis', () => {
  const chart: Chart = {
    kind: 'roadmap',
    title: 'Roadmap',
    itemAxis: 'Card',
    phases: [
      { name: 'Active', paint: { phase: 'active' } },
      { name: 'End of life', paint: { phase: 'endOfLife' } },
    ],
    items: [
      { name: 'Gone', dates: ['2001-01-01', '2010-01-01'] },
      { name: 'Far', dates: ['2050-01-01', null] },
      { name: 'Old and active', dates: ['2001-01-01', null] },
    ],
    today: '2026-06-30',
  };
  expect(textsOf(chart)).toContain('Next change first · 2 cards lie outside of the drawn years');
});

it('a matrix groups a line with those below it, and puts empty lines last', () => {
  const top = { key: 'top', name: 'Top' };
  const lines = [
    { key: 'top', name: 'Top' },
    { key: 'a', name: 'A', above: [top] },
    { key: 'b', name: 'B', above: [top] },
  ];
  const { groups } = groupLines(lines, [1, 1, 1], 2);
  expect(groups).toEqual([{ name: 'Top', above: undefined, members: [0, 1, 2] }]);
  const rows = groupLines(lines, [0, 1, 1], 9).groups;
  expect(
    clustered(rows, rows.slice(0, 1), [
      [1, 0, 1],
      [2, 0, 1],
    ]).rows,
  ).toEqual([1, 2, 0]);
});

it('a matrix groups lines by one level, so that what belongs to a drawn line is not counted above it', () => {
  const [top, area] = [
    { key: 'top', name: 'Top' },
    { key: 'area', name: 'Area' },
  ];
  const lines = [
    { ...top },
    { ...area, above: [top] },
    { key: 'one', name: 'One', above: [area, top] },
    { key: 'two', name: 'Two', above: [area, top] },
    { key: 'other', name: 'Other', above: [top] },
  ];
  const { groups } = groupLines(lines, [1, 1, 1, 1, 1], 3);
  expect(groups.map(({ name, members }) => [name, members])).toEqual([
    ['Top', [0]],
    ['Area', [1, 2, 3]],
    ['Other', [4]],
  ]);
});

it('a list in little room has two lines for each row', () => {
  const chart: Chart = {
    kind: 'list',
    title: 'Next ends',
    columns: [
      { name: 'Card', share: 50 },
      { name: 'Product', share: 30 },
      { name: 'Quality', share: 20, right: true },
    ],
    rows: [{ cells: ['Elasticsearch 8.19', 'Elasticsearch 8', '25 %'] }],
  };
  expect(textsOf(chart, 390)).toEqual(['Next ends', 'Elasticsearch 8.19', '25 %', 'Elasticsearch 8']);
  expect(textsOf(chart)).toContain('Product');
});

it('a portfolio in little room writes the names of rows, columns and corners whole', () => {
  const steps = ['Inappropriate', 'Unreasonable', 'Adequate', 'Fully Appropriate'];
  const axis = { unit: 'number', judged: true } as const;
  const { texts } = readPicture(
    drawChart(
      {
        kind: 'bubbles',
        title: 'Portfolio',
        x: { ...axis, name: 'Functional', steps: ['Unreasonable', 'Insufficient', 'Appropriate', 'Perfect'] },
        y: { ...axis, name: 'Technical', steps },
        corners: { best: 'Keep and invest', worst: 'Replace first' },
        items: [{ name: 'PolicyDesk', x: 3, y: 3 }],
      },
      workspace,
      { width: 390 },
    ),
  );
  expect(texts.filter(({ text }) => text.endsWith('…'))).toEqual([]);
  for (const step of steps) expect(texts.map(({ text }) => text)).toContain(step);
});

it('circles of a portfolio never lie on each other, also where there is little room', () => {
  const steps = ['Bad', 'Poor', 'Fair', 'Good', 'Best'];
  for (const count of [1, 6, 11, 40])
    for (const width of [320, 390, 600, 1_200]) {
      const svg = drawChart(
        {
          kind: 'bubbles',
          title: 'Portfolio',
          x: { name: 'Functional', unit: 'number', steps },
          y: { name: 'Technical', unit: 'number', steps },
          size: { name: 'Cost', unit: 'currency' },
          items: Array.from({ length: count }, (_, n) => ({ name: `App ${n}`, x: 3, y: 3, size: 1_000 - n })),
        },
        workspace,
        { width },
      );
      const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(
        ([, x, y]) => `${x} ${y}`,
      );
      expect(circles.length, `${count} at ${width}`).toBeGreaterThan(0);
      expect(new Set(circles).size, `${count} at ${width}`).toBe(circles.length);
    }
});

it('the rest of many bars says that it has no bar where this does not reach the shares', () => {
  const chart: Chart = {
    kind: 'bars',
    title: 'Costs',
    itemAxis: 'Card',
    valueAxis: 'Cost',
    unit: 'currency',
    series: ['Cost'],
    shares: true,
    most: 3,
    items: [9e6, 8e6, 7e6, 6e6].map((value) => ({ name: `Something that costs ${value}`, values: [value] })),
  };
  const texts = (width: number) =>
    readPicture(drawChart(chart, { ...workspace, language: 'de' }, { width })).texts.map(({ text }) => text);
  expect(texts(1_200).some((text) => text.endsWith('(ohne Balken)'))).toBe(true);
  expect(texts(390).some((text) => text.endsWith('(ohne Balken)'))).toBe(false);
});

it('labels in sentences keep their abbreviations, and months follow the format of dates', () => {
  expect(decapitalised('Maturity (CMMI)')).toBe('maturity (CMMI)');
  expect(decapitalised('TIME Model')).toBe('TIME model');
  const formats = ['DD.MM.YYYY', 'MM/DD/YYYY', 'YYYY-MM-DD', 'DD MMM YYYY', 'MMM D, YYYY'];
  expect(
    formats.map((dateFormat) => formatMonth(Date.UTC(2026, 7, 1), { currency: 'EUR', dateFormat })),
  ).toEqual(['08.2026', '08/2026', '2026-08', 'Aug 2026', 'Aug 2026']);
});

it('boxes by a mean count each item once by its weight, and leave out those without a value', () => {
  const chart = boxes({
    mean: true,
    boxes: [
      { id: 'top', name: 'Top', parent_id: null, items: [{ name: 'Dear', value: 4, weight: 3 }] },
      {
        id: 'a',
        name: 'A',
        parent_id: 'top',
        items: [{ name: 'Dear', value: 4, weight: 3 }, { name: 'Cheap', value: 1 }, { name: 'Unknown' }],
      },
      { id: 'b', name: 'B', parent_id: 'top', items: [{ name: 'Free', value: 1, weight: 0 }] },
    ],
  });
  const [top] = treesOf(chart);
  expect(top!.value).toBe(3.25);
  expect(top!.children.map(({ value }) => value)).toEqual([3.25, undefined]);
  expect(restOf([top!, top!], {}, chart).value).toBe(3.25);
});

it('bars and their axis have one unit, whatever is above and beside them', () => {
  const bars = (values: number[], most: number): Chart => ({
    ...{ kind: 'bars', title: 'Cost', itemAxis: 'Application', valueAxis: 'Cost', unit: 'currency' },
    ...{ series: ['Cost'], shares: true, most },
    items: values.map((value, at) => ({ name: `App ${at}`, values: [value] })),
  });
  // the axis ends at a million, and what is left out is several
  for (const chart of [bars([980_000, 200_000], 21), bars(Array(60).fill(200_000), 21)]) {
    const svg = drawChart(chart, { ...workspace, language: 'de' });
    const texts = readPicture(svg).texts.map(({ text }) => text);
    expect(texts.filter((text) => /Tsd\./.test(text)).length).toBeGreaterThan(4);
    expect(texts.filter((text) => /Mio\./.test(text))).toEqual([]);
  }
});

describe('a graph of layers', () => {
  const kinds = ['Application', 'Interface', 'Component', 'Provider', 'Process'];
  const nodes = kinds.flatMap((kind, layer) =>
    Array.from({ length: layer === 0 ? 6 : 2 }, (_, n) => ({
      id: `${kind}${n}`,
      name: `${kind} of the north ${n}`,
      group: kind,
    })),
  );
  const chart: GraphChart = {
    kind: 'graph',
    title: 'Dependencies',
    layers: kinds.map((key) => ({ key, name: key })),
    groups: kinds.map((key) => ({ key, name: `${key}s`, paint: 'accent', layer: key })),
    nodes,
    edges: [
      { source: 'Application0', target: 'Interface1' },
      { source: 'Process0', target: 'Process1' },
    ],
  };

  it('keeps lines within the picture, also those of the last layer', () => {
    const picture = pictureOf(chart, lookOf(workspace));
    const xs = picture.marks.flatMap((mark) =>
      mark.kind === 'path' ? [...mark.d.matchAll(/(-?[\d.]+) -?[\d.]+/g)].map(([, x]) => Number(x)) : [],
    );
    expect(Math.max(...xs)).toBeLessThanOrEqual(picture.width);
  });

  it('stands below each other where columns have no room for names, with whole names and few boxes', () => {
    const picture = pictureOf(chart, lookOf(workspace, { width: 390 }));
    const texts = picture.marks.flatMap((mark) => (mark.kind === 'text' ? [mark.text] : []));
    expect(texts.filter((text) => text.endsWith('…'))).toEqual([]);
    expect(texts).toEqual(expect.arrayContaining([...kinds, expect.stringMatching(/^6 × Application/)]));
    expect(texts.join(' ')).toContain('More than 4 of a kind are one box');
  });
});
