import type { Chart, SingleChart } from '../../../reports/kernel/charts/charts.types.ts';

/** The numbers of a chart as a table. */
export interface ChartTable {
  title: string;
  columns: { title: string; isNumber: boolean }[];
  /** The card of each row, if it stands for one. */
  rows: { ref: string | undefined; cells: (string | number | null)[] }[];
}

const text = (title: string) => ({ title, isNumber: false });
const figure = (title: string) => ({ title, isNumber: true });
const row = (ref: string | undefined, ...cells: (string | number | null)[]) => ({ ref, cells });

type Tables = { [K in SingleChart['kind']]: (chart: SingleChart & { kind: K }) => Omit<ChartTable, 'title'> };

const tables: Tables = {
  bars: ({ itemAxis, series, items }) => ({
    columns: [text(itemAxis || '–'), ...series.map(figure)],
    rows: items.map(({ id, name, values }) => row(id, name, ...values)),
  }),
  columns: ({ series, items }) => ({
    columns: [text('–'), ...series.map(({ name }) => figure(name))],
    rows: items.map(({ name, values }) => row(undefined, name, ...values)),
  }),
  boxes: ({ boxes, member, scale, legend }) => {
    const names = new Map(boxes.map(({ id, name }) => [id, name]));
    const meaning = new Map(legend?.map(({ name, paint }) => [JSON.stringify(paint), name]));
    return {
      columns: [text('–'), text('↑'), figure(member[1]), scale ? figure(scale.name) : text('●')],
      rows: boxes.map((box) =>
        row(
          box.id,
          box.name,
          names.get(box.parent_id ?? '') ?? null,
          box.items?.length ?? 0,
          scale ? (box.value ?? null) : (meaning.get(JSON.stringify(box.paint)) ?? null),
        ),
      ),
    };
  },
  treemap: ({ valueAxis, items, groups }) => {
    const names = new Map(groups?.map(({ key, name }) => [key, name]));
    return {
      columns: [text('–'), text('↑'), figure(valueAxis)],
      rows: items.map(({ id, name, group = '', value }) =>
        row(id, name, names.get(group) ?? (group || null), value),
      ),
    };
  },
  matrix: ({ rowAxis, columnAxis, valueAxis, rows, columns, cells }) => ({
    columns: [text(rowAxis), text(columnAxis), figure(valueAxis)],
    rows: cells.map(([r, c, value]) => row(rows[r]!.key, rows[r]!.name, columns[c]!.name, value)),
  }),
  bubbles: ({ x, y, size, groupAxis, items }) => ({
    columns: [
      text('–'),
      x.steps ? text(x.name) : figure(x.name),
      y.steps ? text(y.name) : figure(y.name),
      ...(size ? [figure(size.name)] : []),
      ...(groupAxis ? [text(groupAxis)] : []),
    ],
    rows: items.map((item) =>
      row(
        item.id,
        item.name,
        x.steps?.[item.x] ?? item.x,
        y.steps?.[item.y] ?? item.y,
        ...(size ? [item.size ?? null] : []),
        ...(groupAxis ? [item.group ?? null] : []),
      ),
    ),
  }),
  roadmap: ({ itemAxis, phases, items, groups }) => {
    const names = new Map(groups?.map(({ key, name }) => [key, name]));
    return {
      columns: [text(itemAxis), ...(groups ? [text('↑')] : []), ...phases.map(({ name }) => text(name))],
      rows: items.map(({ id, name, dates, group = '' }) =>
        row(id, name, ...(groups ? [names.get(group) ?? null] : []), ...dates),
      ),
    };
  },
  graph: ({ nodes, edges }) => {
    const names = new Map(nodes.map(({ id, name }) => [id, name]));
    return {
      columns: [text('→'), text('←')],
      rows: edges.map(({ source, target }) =>
        row(source, names.get(source) ?? null, names.get(target) ?? null),
      ),
    };
  },
  lines: ({ timeAxis = 'Date', times, series }) => ({
    columns: [text(timeAxis), ...series.map(({ name }) => figure(name))],
    rows: times.map((time, at) =>
      row(undefined, time.slice(0, 10), ...series.map(({ values }) => values[at] ?? null)),
    ),
  }),
  figures: ({ items }) => ({
    columns: [text('–'), figure('–')],
    rows: items.map(({ name, value, text: words }) => row(undefined, name, value ?? words ?? null)),
  }),
  list: ({ columns, rows }) => ({
    columns: columns.map(({ name, right }) => ({ title: name, isNumber: right ?? false })),
    rows: rows.map(({ id, cells }) => row(id, ...cells)),
  }),
};

const tableOf = <K extends SingleChart['kind']>(chart: SingleChart & { kind: K }): ChartTable => ({
  title: chart.title,
  ...tables[chart.kind](chart),
});

/** The tables with the numbers of a chart; one for each panel. */
export const tablesOf = (chart: Chart): ChartTable[] =>
  chart.kind === 'panels' ? chart.panels.map((panel) => tableOf(panel)) : [tableOf(chart)];

/** A chart without some entries of its legend: their series, groups or phases. */
export function without(chart: Chart, hidden: readonly string[]): Chart {
  if (hidden.length === 0) return chart;
  const isShown = (name: string | undefined) => name === undefined || !hidden.includes(name);
  switch (chart.kind) {
    case 'panels':
      return {
        ...chart,
        panels: chart.panels.map((panel) => ({ ...panel, ...without(panel, hidden) })) as typeof chart.panels,
      };
    case 'bubbles':
      return { ...chart, items: chart.items.filter(({ group }) => isShown(group)) };
    case 'bars': {
      const kept = chart.series.flatMap((name, at) => (isShown(name) ? [at] : []));
      return {
        ...chart,
        series: kept.map((at) => chart.series[at]!),
        ...(chart.paints && { paints: kept.map((at) => chart.paints![at]!) }),
        items: chart.items.map((item) => ({ ...item, values: kept.map((at) => item.values[at] ?? null) })),
      };
    }
    case 'columns': {
      const kept = chart.series.flatMap(({ name }, at) => (isShown(name) ? [at] : []));
      return {
        ...chart,
        series: kept.map((at) => chart.series[at]!),
        items: chart.items.map((item) => ({ ...item, values: kept.map((at) => item.values[at] ?? 0) })),
      };
    }
    case 'lines':
      return { ...chart, series: chart.series.filter(({ name }) => isShown(name)) };
    case 'roadmap':
      return {
        ...chart,
        items: chart.items.filter(({ dates }) => {
          const phase = dates.findLastIndex((date) => date !== null && date <= chart.today);
          return isShown(chart.phases[phase]?.name);
        }),
      };
    default:
      return chart;
  }
}

/** The cards of a chart by id, for the comparison of two times. */
export function cardsOf(chart: Chart): Map<string, string> {
  const cards = new Map<string, string>();
  for (const { rows } of tablesOf(chart))
    for (const { ref, cells } of rows) if (ref) cards.set(ref, cells.join(' | '));
  return cards;
}
