import { axis, groupColour, heading } from './charts.parts.ts';
import { axisTitle, formatDate, formatValue, Labels } from './charts.text.ts';
import { FONT_SIZE, MARGIN, WIDTH } from './charts.theme.ts';
import { formatSpan, spanStarts } from './charts.time.ts';
import type { ChartWorkspace, Layout, LinesChart } from './charts.types.ts';

const PLOT = 300;
const LEFT = MARGIN + 84;
/** Space for the title of the vertical axis. */
const VALUE_AXIS = 240;
/** Maximum number of time labels below the axis. */
const NAMED = 9;

/** Lines over time, interrupted at missing values. */
export function layoutLines(chart: LinesChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const kept = chart.rest ? chart.series.length - 1 : chart.series.length;
  const colourOf = (index: number) => groupColour(index, kept);
  const { step } = chart;
  const legend = chart.series.map(({ name }, index) => ({ name, color: colourOf(index) }));
  const head = heading(chart, legend, labels, WIDTH);
  const times = chart.times.map((time) => Date.parse(time));
  return {
    width: WIDTH,
    height: head.bottom + PLOT + 64,
    shortened: labels.shortened,
    description: `Lines of ${chart.valueAxis} over ${times.length} points in time`,
    option: {
      ...head.option,
      useUTC: true,
      grid: { outerBoundsMode: 'none', left: LEFT, right: MARGIN + 40, top: head.bottom + 8, height: PLOT },
      xAxis: axis(labels.fit(chart.timeAxis ?? 'Date', 600, FONT_SIZE), 32, {
        type: 'time',
        splitNumber: 6,
        splitLine: { show: false },
        axisLabel: {
          hideOverlap: true,
          fontSize: FONT_SIZE,
          formatter: (time: number) => (step ? formatSpan(time, step) : formatDate(time, workspace)),
          ...(step ? { customValues: spanStarts(times[0], times.at(-1), step, NAMED) } : {}),
        },
      }),
      yAxis: axis(axisTitle(labels.fit(chart.valueAxis, VALUE_AXIS, FONT_SIZE), chart.unit, workspace), 64, {
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
        // a value between two gaps needs a symbol, since it has no line
        showSymbol: true,
        symbol: 'circle',
        symbolSize: times.length > 120 ? 3 : 6,
        lineStyle: { color: colourOf(index), width: 2 },
        itemStyle: { color: colourOf(index) },
        data: values.map((value, at) => [times[at], value]),
      })),
    },
  };
}
