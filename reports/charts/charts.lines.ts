import { axis, heading } from './charts.parts.ts';
import { axisTitle, formatDate, formatValue, Labels } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, Layout, LinesChart } from './charts.types.ts';

const PLOT = 300;
const LEFT = MARGIN + 84;

/** Lines over time, broken where a value is missing. */
export function layoutLines(chart: LinesChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const head = heading(
    chart,
    chart.series.map(({ name }, index) => ({ name, color: colour(index) })),
    labels,
    WIDTH,
  );
  const times = chart.times.map((time) => Date.parse(time));
  return {
    width: WIDTH,
    height: head.bottom + PLOT + 64,
    shortened: labels.shortened,
    description: `Lines of ${chart.valueAxis} over ${times.length} moments`,
    option: {
      ...head.option,
      useUTC: true,
      grid: { outerBoundsMode: 'none', left: LEFT, right: MARGIN + 40, top: head.bottom + 8, height: PLOT },
      xAxis: axis('Date', 32, {
        type: 'time',
        splitNumber: 6,
        splitLine: { show: false },
        axisLabel: {
          hideOverlap: true,
          fontSize: FONT_SIZE,
          formatter: (time: number) => formatDate(time, workspace),
        },
      }),
      yAxis: axis(axisTitle(chart.valueAxis, chart.unit, workspace), 64, {
        type: 'value',
        scale: true,
        splitNumber: 5,
        ...(chart.unit === 'count' ? { minInterval: 1 } : {}),
        axisLabel: {
          hideOverlap: true,
          formatter: (value: number) => formatValue(value, chart.unit, workspace),
        },
      }),
      series: chart.series.map(({ name, values }, index) => ({
        name,
        type: 'line',
        connectNulls: false,
        // a value between two gaps has no line to be seen by
        showSymbol: true,
        symbol: 'circle',
        symbolSize: times.length > 120 ? 3 : 6,
        lineStyle: { color: colour(index), width: 2 },
        itemStyle: { color: colour(index) },
        data: values.map((value, at) => [times[at], value]),
      })),
    },
  };
}
