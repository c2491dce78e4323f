import type { Chart, SingleChart } from '../../../../reports/kernel/charts/charts.types.ts';

const words = [
  'Billing',
  'Customer Data Platform',
  'ERP',
  'Payments Gateway for the Nordic Countries and the Baltics',
  'HR',
  'Claims',
];
/** Names as people give them, and as attackers do. */
export const hostile = [
  '<script>alert(1)</script>',
  '</text><image href="x" onerror="alert(1)"/>',
  'نظام إدارة علاقات العملاء مع اسم طويل جدا يتجاوز العرض',
  '🏦🚀 Bank 👩‍👩‍👧‍👦 of the family',
  'a\u0000b\u0007\nline two ]]> &amp; {b} {@value}',
  '\ud800 half a character',
  '財務会計システム統合基盤プラットフォーム次期更改プロジェクト',
  '" onload="alert(1)',
];

/** As many names as asked for, some hostile, all different. */
export const names = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${hostile[index % 25] ?? words[index % words.length]} ${index + 1}`,
  );

const value = (index: number) => ((index * 7919) % 1000) + 1;
const steps = ['Insufficient', 'Partial', 'Appropriate', 'Perfect'];

/** A chart of each kind with as many items. */
export function samples(
  count: number,
): Record<SingleChart['kind'] | 'beside' | 'spans' | 'amounts' | 'scaled' | 'shares', Chart> {
  const all = names(count);
  const groups = names(6);
  return {
    bars: {
      kind: 'bars',
      title: 'Annual cost per application',
      itemAxis: 'Application',
      valueAxis: 'Annual cost',
      unit: 'currency',
      series: ['Run', 'Change'],
      items: all.map((name, index) => ({ name, values: [value(index) * 1000, value(index + 5) * 700] })),
    },
    beside: {
      kind: 'bars',
      title: 'Applications by component',
      itemAxis: 'Component with quite a long title of its own · Subtype of that component',
      valueAxis: 'Average of the annual cost, Median of the annual cost, Greatest of the annual costs',
      unit: 'currency',
      series: ['Average', hostile[1]!, '12 others'],
      beside: true,
      rest: true,
      items: all.map((name, index) => ({
        name,
        values: [value(index) * 1000, index % 3 === 0 ? null : value(index + 5) * 700, -value(index)],
      })),
    },
    treemap: {
      kind: 'treemap',
      title: 'Cost by provider',
      valueAxis: 'Annual cost',
      unit: 'currency',
      items: all.map((name, index) => ({ name, value: value(index) * 1000, group: groups[index % 6]! })),
    },
    matrix: {
      kind: 'matrix',
      title: 'Applications by capability',
      rowAxis: 'Application',
      columnAxis: 'Business capability',
      valueAxis: 'Relations',
      unit: 'count',
      rows: all.map((name, at) => ({ name, above: [{ key: `g${at % 7}`, name: groups[at % 6]! }] })),
      columns: all.map((name) => ({ name })),
      cells: all.flatMap((_, row): [number, number, number][] => [
        [row, (row * 7) % count, 1 + (row % 4)],
        [row, (row * 3 + 1) % count, 1 + (row % 9)],
      ]),
    },
    bubbles: {
      kind: 'bubbles',
      title: 'Application portfolio',
      x: { name: 'Functional suitability', unit: 'number', steps, judged: true },
      y: { name: 'Technical suitability', unit: 'number', steps, judged: true },
      size: { name: 'Annual cost', unit: 'currency' },
      groupAxis: 'Business criticality',
      groups: [
        { name: 'Mission critical', paint: { option: '#8c1d18' } },
        { name: 'Business critical', paint: { option: 'orange' } },
        { name: 'Administrative', paint: { category: 3 } },
      ],
      corners: { best: 'Best', worst: 'Worst' },
      items: all.map((name, index) => ({
        name,
        x: index % 4,
        y: (index * 3) % 4,
        size: value(index),
        group: ['Mission critical', 'Business critical', 'Administrative'][index % 3]!,
      })),
    },
    amounts: {
      kind: 'bubbles',
      title: 'Cost by users',
      x: { name: 'Users', unit: 'number' },
      y: { name: 'Annual cost', unit: 'currency' },
      size: { name: 'Users', unit: 'number' },
      // most of them at the left edge, as amounts are
      items: all.map((name, index) => ({
        name,
        x: value(index) ** 3,
        y: value(index + 3) * 1000,
        size: value(index),
      })),
    },
    roadmap: {
      kind: 'roadmap',
      title: 'Roadmap',
      itemAxis: 'Card',
      phases: [
        { name: 'Plan', paint: { phase: 'plan' } },
        { name: 'Phase in', paint: { phase: 'phaseIn' } },
        { name: 'Active', paint: { phase: 'active' } },
        { name: 'Phase out', paint: { phase: 'phaseOut' } },
        { name: 'End of life', paint: { phase: 'endOfLife' } },
      ],
      groups: groups.map((name, at) => ({ key: String(at), name })),
      today: '2026-06-30',
      items: all.map((name, index) => ({
        name,
        group: String(index % 6),
        dates: [0, 1, 2, 5, 7].map((years, phase) =>
          (index + phase) % 5 === 0 ? null : `${2018 + (index % 6) + years}-0${1 + (index % 9)}-01`,
        ),
      })),
    },
    graph: {
      kind: 'graph',
      title: 'Dependencies',
      layers: ['a', 'b', 'c'].map((key) => ({ key, name: `Layer ${key}` })),
      groups: Array.from({ length: 9 }, (_, at) => ({
        key: String(at),
        name: names(9)[at]!,
        paint: { type: '#0f7eb5' },
        layer: ['a', 'b', 'c'][at % 3]!,
      })),
      nodes: all.map((name, index) => ({
        id: String(index),
        name,
        group: String(index % 9),
        centre: index === 0,
      })),
      edges: all
        .slice(1)
        .map((_, index) => ({ source: String(Math.floor(index / 3)), target: String(index + 1) })),
    },
    lines: {
      kind: 'lines',
      title: 'Data quality over time',
      valueAxis: 'Data quality',
      unit: 'percent',
      times: all.map((_, index) => new Date(Date.UTC(2025, 0, 1 + index)).toISOString()),
      series: [
        { name: 'All cards', values: all.map((_, index) => (index % 7 === 3 ? null : 50 + (index % 11))) },
        { name: groups[0]!, values: all.map((_, index) => 40 + (index % 5)) },
      ],
    },
    spans: {
      kind: 'lines',
      title: 'Applications by year',
      valueAxis: 'Sum of the annual cost of all applications and of their components',
      unit: 'currency',
      timeAxis: 'Active (quarter)',
      step: 'quarter',
      rest: true,
      times: all.map((_, index) => new Date(Date.UTC(2000, 3 * index)).toISOString()),
      series: [
        { name: 'Mission critical', values: all.map((_, index) => value(index) * 1000) },
        { name: '20 others', values: all.map((_, index) => (index % 7 === 3 ? null : index)) },
      ],
    },
    boxes: {
      kind: 'boxes',
      title: 'Capability map',
      member: ['application', 'applications'],
      gaps: true,
      legend: [
        { name: 'Good', paint: { quality: 3 } },
        { name: 'Bad', paint: { quality: 0 } },
      ],
      boxes: all.map((name, index) => ({
        id: String(index),
        name,
        parent_id: index < 4 ? null : String(Math.floor(index / 4)),
        ...(index % 5 === 0
          ? { items: [] }
          : {
              paint: { quality: index % 2 === 0 ? 3 : 0 } as const,
              items: names(index % 7).map((item) => ({ name: item, paint: { quality: 3 } as const })),
            }),
      })),
    },
    scaled: {
      kind: 'boxes',
      title: 'Costs of capabilities',
      member: ['application', 'applications'],
      scale: { name: 'Costs', unit: 'currency' },
      boxes: all.map((name, index) => ({
        id: String(index),
        name,
        parent_id: null,
        value: index * 1_234_567,
      })),
    },
    columns: {
      kind: 'columns',
      title: 'Ends by quarter',
      valueAxis: 'Cards',
      unit: 'count',
      series: groups.slice(0, 3).map((name, at) => ({ name, paint: { category: at } })),
      today: { name: 'Q3 2021', passed: 0.5 },
      items: all.slice(0, 40).map((_, index) => ({
        name: `Q${(index % 4) + 1} ${2021 + Math.floor(index / 4)}`,
        values: [value(index), value(index + 3) % 17, 0],
        apart: index > 37,
      })),
    },
    list: {
      kind: 'list',
      title: 'Next ends',
      columns: [
        { name: 'Card', share: 60 },
        { name: 'Data quality', share: 40, right: true },
      ],
      rows: all.map((name, index) => ({ cells: [name, String(index)], paint: { type: '#ffa31f' } })),
    },
    shares: {
      kind: 'bars',
      title: 'Cost of applications',
      itemAxis: 'Application',
      valueAxis: 'Cost',
      unit: 'currency',
      series: ['Cost'],
      shares: true,
      most: 21,
      items: all.map((name, index) => ({ name, values: [value(index) * 10_000] })),
    },
    figures: {
      kind: 'figures',
      title: 'Key figures',
      items: all
        .slice(0, 10)
        .map((name, index) => ({ name, value: index === 3 ? null : value(index) * 1234, unit: 'number' })),
    },
  };
}
