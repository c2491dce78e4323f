import {
  axis,
  groupColour,
  heading,
  namesAxis,
  omittedNote,
  textBorder,
  widthOfNames,
  withNote,
} from './charts.parts.ts';
import { axisTitle, formatValue, Labels, textWidth } from './charts.text.ts';
import { FONT_SIZE, MARGIN, WIDTH } from './charts.theme.ts';
import type { BarsChart, ChartWorkspace, Layout } from './charts.types.ts';

const MOST = 200;
const ROW = 24;
/** Height of a bar in a grouped row. */
const BESIDE = 15;
const LABEL = 280;
/** Space for the axis titles. */
const ITEM_AXIS = 260;
const VALUE_AXIS = 440;

/** One row per item; the height follows from the number of rows, so that labels do not overlap. */
export function layoutBars(chart: BarsChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const items = chart.items.slice(0, MOST);
  const several = chart.series.length > 1;
  const beside = several && chart.beside === true;
  const last = chart.series.length - 1;
  const colourOf = (at: number) => groupColour(at, chart.rest ? last : chart.series.length);
  const head = heading(
    { title: chart.title, note: withNote(chart.note, omittedNote(items.length, chart.items.length)) },
    several ? chart.series.map((name, index) => ({ name, color: colourOf(index) })) : [],
    labels,
    WIDTH,
  );
  const names = items.map(({ name }) => labels.fit(name, LABEL, FONT_SIZE));
  const written = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : formatValue(value, chart.unit, workspace);
  // a bar is labelled with its value, a stack with its total
  const ends = chart.series.map((_, at) =>
    items.map(({ values }) => (beside ? written(values[at]) : at === last ? written(sum(values)) : '')),
  );
  const left = widthOfNames(names);
  const right = MARGIN + 8 + Math.max(20, ...ends.flat().map((text) => textWidth(text, FONT_SIZE)));
  const row = beside ? Math.max(ROW, chart.series.length * BESIDE + 10) : ROW;
  const itemAxis = labels.fit(chart.itemAxis, ITEM_AXIS, FONT_SIZE);
  // the title of the rows is rotated
  const plot = Math.max(Math.max(1, items.length) * row, textWidth(itemAxis, FONT_SIZE) - 20);
  return {
    width: WIDTH,
    height: head.bottom + plot + 56,
    shortened: labels.shortened,
    description: `Bars of ${chart.valueAxis} for ${items.length} of ${chart.items.length} items`,
    option: {
      ...head.option,
      grid: { outerBoundsMode: 'none', left, right, top: head.bottom, bottom: 56 },
      xAxis: axis(axisTitle(labels.fit(chart.valueAxis, VALUE_AXIS, FONT_SIZE), chart.unit, workspace), 30, {
        type: 'value',
        ...(chart.unit === 'count' ? { minInterval: 1 } : {}),
        splitNumber: 5,
        axisLabel: {
          formatter: (value: number) => formatValue(value, chart.unit, workspace),
          hideOverlap: true,
        },
      }),
      yAxis: namesAxis(itemAxis, names, left),
      series: chart.series.map((name, at) => ({
        name,
        type: 'bar',
        ...(beside ? { barGap: 0 } : { stack: 'all' }),
        barMaxWidth: beside ? BESIDE - 1 : 16,
        itemStyle: { color: colourOf(at) },
        data: items.map(({ values }) => values[at] ?? 0),
        label: {
          ...textBorder,
          show: beside || at === last,
          position: 'right',
          fontSize: FONT_SIZE,
          fontFamily: 'sans-serif',
          formatter: ({ dataIndex }: { dataIndex: number }) => ends[at]![dataIndex],
        },
      })),
    },
  };
}

/** The sum of the known values; null if none is known. */
const sum = (values: (number | null)[]): number | null =>
  values.reduce((total, value) => (value === null ? total : (total ?? 0) + value), null);
