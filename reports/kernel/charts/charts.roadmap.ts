import { axis, heading, namesAxis, omittedNote, widthOfNames, withNote } from './charts.parts.ts';
import { formatDate, Labels } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, TEXT_COLOR, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, Layout, RoadmapChart } from './charts.types.ts';

const MOST = 200;
const ROW = 24;
const LABEL = 260;
const BAR = 14;
/** Number of rows above which the time axis is also drawn at the bottom. */
const TALL = 30;
const DAY = 86_400_000;

/** The used part of the library's interface for custom series. */
interface DrawApi {
  value(dimension: number): number;
  coord(point: [number, number]): [number, number];
}

/** One row per item with one bar per phase, up to the next phase. */
export function layoutRoadmap(chart: RoadmapChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const items = chart.items.slice(0, MOST);
  const head = heading(
    { title: chart.title, note: withNote(chart.note, omittedNote(items.length, chart.items.length)) },
    chart.phases.map((name, index) => ({ name, color: colour(index) })),
    labels,
    WIDTH,
  );
  const names = items.map(({ name }) => labels.fit(name, LABEL, FONT_SIZE));
  const left = widthOfNames(names);
  const { from, to } = rangeOf(chart);
  const tall = items.length > TALL;
  const top = head.bottom + (tall ? 42 : 22);
  const dates = {
    type: 'time',
    min: from,
    max: to,
    splitNumber: 5,
    axisLabel: {
      hideOverlap: true,
      showMinLabel: false,
      showMaxLabel: false,
      formatter: (time: number) => formatDate(time, workspace),
    },
  };
  return {
    width: WIDTH,
    height: top + Math.max(1, items.length) * ROW + 60,
    shortened: labels.shortened,
    description: `Phases over time of ${items.length} of ${chart.items.length} items`,
    option: {
      ...head.option,
      useUTC: true,
      grid: { outerBoundsMode: 'none', left, right: MARGIN + 40, top, bottom: 60 },
      xAxis: [
        axis('Date', 32, dates),
        ...(tall ? [axis('', 0, { ...dates, position: 'top', splitLine: { show: false } })] : []),
      ],
      yAxis: namesAxis(chart.itemAxis, names, left),
      series: [
        {
          type: 'custom',
          renderItem: (_: unknown, api: DrawApi) => shape(api, chart.phases.length),
          encode: { x: [1, 2], y: 0 },
          data: items.flatMap((item, row) =>
            spansOf(item.dates, to).map(([phase, begin, end]) => [row, begin, end, phase]),
          ),
        },
        {
          type: 'line',
          data: [],
          markLine: {
            symbol: 'none',
            silent: true,
            animation: false,
            lineStyle: { color: TEXT_COLOR, type: 'dashed', width: 1 },
            label: {
              formatter: `Today, ${formatDate(Date.parse(chart.today), workspace)}`,
              position: 'start',
              distance: tall ? 24 : 5,
              color: TEXT_COLOR,
              fontFamily: 'sans-serif',
              fontSize: FONT_SIZE,
            },
            data: [{ xAxis: Date.parse(chart.today) }],
          },
        },
      ],
    },
  };
}

/** A bar for a phase, a diamond for the last one. */
function shape(api: DrawApi, phases: number): Record<string, unknown> {
  const row = api.value(0);
  const phase = api.value(3);
  const [begin, y] = api.coord([api.value(1), row]);
  const [end] = api.coord([api.value(2), row]);
  const style = { fill: colour(phase) };
  if (phase === phases - 1) {
    const half = BAR / 2;
    return {
      type: 'polygon',
      shape: {
        points: [
          [begin, y - half],
          [begin + half, y],
          [begin, y + half],
          [begin - half, y],
        ],
      },
      style,
    };
  }
  const width = Math.max(2, end - begin);
  return { type: 'rect', shape: { x: begin, y: y - BAR / 2, width, height: BAR }, style };
}

/** The phases with a date, each until the next one; the last until the edge of the chart. */
function spansOf(dates: (string | null)[], edge: number): [phase: number, from: number, to: number][] {
  const known = dates.flatMap((date, phase): [number, number][] =>
    date === null ? [] : [[phase, Date.parse(date)]],
  );
  const point = dates.length - 1;
  return known.map(([phase, from], at) => {
    const next = known[at + 1]?.[1];
    return [phase, from, phase === point ? from : Math.max(from, next ?? edge)];
  });
}

/** The range of all dates and today, with some padding. */
function rangeOf({ items, today }: RoadmapChart): { from: number; to: number } {
  const times = items
    .slice(0, MOST)
    .flatMap(({ dates }) => dates.flatMap((date) => (date === null ? [] : [Date.parse(date)])));
  const from = Math.min(Date.parse(today), ...times);
  const to = Math.max(Date.parse(today), ...times);
  const room = Math.max(30 * DAY, (to - from) * 0.04);
  return { from: from - room, to: to + room };
}
