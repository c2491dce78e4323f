import { axis, halo, heading, leftOut, withNote } from './charts.parts.ts';
import { axisTitle, formatValue, Labels, textWidth } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, WIDTH } from './charts.theme.ts';
import type { BarsChart, ChartWorkspace, Layout } from './charts.types.ts';

const MOST = 200;
const ROW = 24;
const LABEL = 280;

/** A row a bar: as many rows as are drawn make the height, so that no label meets another. */
export function layoutBars(chart: BarsChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const items = chart.items.slice(0, MOST);
  const several = chart.series.length > 1;
  const head = heading(
    { title: chart.title, note: withNote(chart.note, leftOut(items.length, chart.items.length)) },
    several ? chart.series.map((name, index) => ({ name, color: colour(index) })) : [],
    labels,
    WIDTH,
  );
  const names = items.map(({ name }) => labels.fit(name, LABEL, FONT_SIZE));
  const totals = items.map(({ values }) => formatValue(sum(values), chart.unit, workspace));
  const left = MARGIN + 28 + Math.max(40, ...names.map((name) => textWidth(name, FONT_SIZE)));
  const right = MARGIN + 8 + Math.max(20, ...totals.map((text) => textWidth(text, FONT_SIZE)));
  const height = head.bottom + Math.max(1, items.length) * ROW + 56;
  return {
    width: WIDTH,
    height,
    shortened: labels.shortened,
    description: `Bars of ${chart.valueAxis} for ${items.length} of ${chart.items.length} items`,
    option: {
      ...head.option,
      grid: { outerBoundsMode: 'none', left, right, top: head.bottom, bottom: 56 },
      xAxis: axis(axisTitle(chart.valueAxis, chart.unit, workspace), 30, {
        type: 'value',
        ...(chart.unit === 'count' ? { minInterval: 1 } : {}),
        splitNumber: 5,
        axisLabel: {
          formatter: (value: number) => formatValue(value, chart.unit, workspace),
          hideOverlap: true,
        },
      }),
      yAxis: axis(chart.itemAxis, left - MARGIN - 8, {
        type: 'category',
        inverse: true,
        data: names,
        splitLine: { show: false },
        axisLabel: { interval: 0 },
      }),
      series: chart.series.map((name, at) => ({
        name,
        type: 'bar',
        stack: 'all',
        barMaxWidth: 16,
        itemStyle: { color: colour(at) },
        data: items.map(({ values }) => values[at] ?? 0),
        label: {
          ...halo,
          show: at === chart.series.length - 1,
          position: 'right',
          fontSize: FONT_SIZE,
          fontFamily: 'sans-serif',
          formatter: ({ dataIndex }: { dataIndex: number }) => totals[dataIndex],
        },
      })),
    },
  };
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
