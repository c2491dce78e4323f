import type { Chart, ChartUnit, SingleChart } from '../../../reports/kernel/charts/charts.types.ts';
import type { Translate } from './messages.tsx';

/** The numbers of a chart as a table. */
export interface ChartTable {
  title: string;
  /** Columns of numbers have a unit. */
  columns: { title: string; unit?: ChartUnit }[];
  /** The card of each row, if it stands for one, and the unit of its numbers, if rows differ. */
  rows: { ref: string | undefined; cells: (string | number | null)[]; unit?: ChartUnit }[];
}

const text = (title: string) => ({ title: title.charAt(0).toUpperCase() + title.slice(1) });
const figure = (title: string, unit: ChartUnit) => ({ ...text(title), unit });
const row = (ref: string | undefined, ...cells: (string | number | null)[]) => ({ ref, cells });

type Tables = {
  [K in SingleChart['kind']]: (chart: SingleChart & { kind: K }, t: Translate) => Omit<ChartTable, 'title'>;
};

const tables: Tables = {
  bars: ({ itemAxis, series, unit, items }, t) => ({
    columns: [text(itemAxis || t('table.name')), ...series.map((name) => figure(name, unit))],
    rows: items.map(({ id, name, values }) => row(id, name, ...values)),
  }),
  columns: ({ itemAxis, series, unit, items }, t) => ({
    columns: [text(itemAxis ?? t('table.name')), ...series.map(({ name }) => figure(name, unit))],
    rows: items.map(({ name, values }) => row(undefined, name, ...values)),
  }),
  boxes: ({ itemAxis, boxes, member: [, members], scale, legend, legendAxis }, t) => {
    const names = new Map(boxes.map(({ id, name }) => [id, name]));
    const meaning = new Map(legend?.map(({ name, paint }) => [JSON.stringify(paint), name]));
    const isPainted = legendAxis !== undefined && boxes.some(({ paint }) => paint !== undefined);
    return {
      columns: [
        text(itemAxis ?? t('table.name')),
        text(t('table.above')),
        ...(members ? [figure(members, 'count')] : []),
        ...(scale ? [figure(scale.name, scale.unit)] : []),
        ...(isPainted ? [text(legendAxis)] : []),
      ],
      rows: boxes.map((box) =>
        row(
          box.id,
          box.name,
          names.get(box.parent_id ?? '') ?? null,
          ...(members ? [box.items?.length ?? 0] : []),
          ...(scale ? [box.value ?? null] : []),
          ...(isPainted ? [meaning.get(JSON.stringify(box.paint)) ?? null] : []),
        ),
      ),
    };
  },
  treemap: ({ itemAxis, groupAxis, valueAxis, unit, items, groups }, t) => {
    const names = new Map(groups?.map(({ key, name }) => [key, name]));
    return {
      columns: [
        text(itemAxis ?? t('table.name')),
        text(groupAxis ?? t('table.group')),
        figure(valueAxis, unit),
      ],
      rows: items.map(({ id, name, group = '', value }) =>
        row(id, name, names.get(group) ?? (group || null), value),
      ),
    };
  },
  matrix: ({ rowAxis, columnAxis, valueAxis, unit, rows, columns, cells }, t) => ({
    columns: [
      text(rowAxis),
      text(rowAxis === columnAxis ? t('table.other', { name: columnAxis }) : columnAxis),
      figure(valueAxis, unit),
    ],
    rows: cells.map(([r, c, value]) => row(rows[r]!.key, rows[r]!.name, columns[c]!.name, value)),
  }),
  bubbles: ({ itemAxis, x, y, size, groupAxis, items }, t) => ({
    columns: [
      text(itemAxis ?? t('table.name')),
      x.steps ? text(x.name) : figure(x.name, x.unit),
      y.steps ? text(y.name) : figure(y.name, y.unit),
      ...(size ? [figure(size.name, size.unit)] : []),
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
  roadmap: ({ itemAxis, groupAxis, phases, items, groups }, t) => {
    const names = new Map(groups?.map(({ key, name }) => [key, name]));
    return {
      columns: [
        text(itemAxis),
        ...(groups ? [text(groupAxis ?? t('table.group'))] : []),
        ...phases.map(({ name }) => text(name)),
      ],
      rows: items.map(({ id, name, dates, group = '' }) =>
        row(id, name, ...(groups ? [names.get(group) ?? null] : []), ...dates),
      ),
    };
  },
  graph: ({ nodes, edges }, t) => {
    const names = new Map(nodes.map(({ id, name }) => [id, name]));
    const flows = edges.some(({ flow }) => flow);
    return {
      columns: [text(t('table.from')), ...(flows ? [text(t('table.flow'))] : []), text(t('table.to'))],
      rows: edges.map(({ source, target, flow }) =>
        row(
          source,
          names.get(source) ?? null,
          ...(flows ? [flow ? t(`table.${flow}`) : null] : []),
          names.get(target) ?? null,
        ),
      ),
    };
  },
  lines: ({ timeAxis, times, series, unit }, t) => ({
    columns: [text(timeAxis ?? t('table.date')), ...series.map(({ name }) => figure(name, unit))],
    rows: times.map((time, at) =>
      row(undefined, time.slice(0, 10), ...series.map(({ values }) => values[at] ?? null)),
    ),
  }),
  figures: ({ items }, t) => ({
    columns: [text(t('table.figure')), figure(t('table.value'), 'number')],
    rows: items.map(({ name, value, unit, text: words }) => ({
      ...row(undefined, name, words ?? value),
      unit,
    })),
  }),
  list: ({ columns, rows }) => ({
    columns: columns.map(({ name, right }) => ({ ...text(name), ...(right && { unit: 'number' as const }) })),
    rows: rows.map(({ id, cells }) => row(id, ...cells)),
  }),
};

const tableOf = <K extends SingleChart['kind']>(
  chart: SingleChart & { kind: K },
  t: Translate,
): ChartTable => ({
  title: chart.title,
  ...tables[chart.kind](chart, t),
});

/** The tables with the numbers of a chart; one for each panel. */
export const tablesOf = (chart: Chart, t: Translate): ChartTable[] =>
  chart.kind === 'panels' ? chart.panels.map((panel) => tableOf(panel, t)) : [tableOf(chart, t)];

/** The cards of a chart by id, for the comparison of two times. */
export function cardsOf(chart: Chart, t: Translate): Map<string, string> {
  const cards = new Map<string, string>();
  for (const { rows } of tablesOf(chart, t))
    for (const { ref, cells } of rows) if (ref) cards.set(ref, cells.join(' | '));
  return cards;
}
