import { axis, groupColour, groupNames, halo, heading, leftOut, withNote } from './charts.parts.ts';
import { axisTitle, formatValue, Labels, textWidth } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, PALETTE, PAPER, WIDTH } from './charts.theme.ts';
import type { BubbleAxis, BubblesChart, ChartWorkspace, Layout } from './charts.types.ts';

const MOST = 500;
/** Names of more would hide the circles; the first are named. */
const NAMED = 30;
const PLOT = 560;
const RADIUS = { least: 5, most: 24 };

/** Circles at their values; on named steps those of one place stand beside each other. Names that find no room are left out. */
export function layoutBubbles(chart: BubblesChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const items = chart.items.slice(0, MOST);
  const groups = groupNames(
    items.map(({ group }) => group ?? ''),
    PALETTE.length,
  );
  const kept = Math.min(groups.all.length, PALETTE.length - 1) + (groups.all.length < PALETTE.length ? 1 : 0);
  const colourOf = (index: number) => groupColour(colour, index, kept);
  const coloured = chart.groupAxis !== undefined;
  const parts = [
    chart.note,
    chart.size ? `Size: ${axisTitle(chart.size.name, chart.size.unit, workspace)}` : undefined,
    coloured ? `Colour: ${chart.groupAxis}` : undefined,
    leftOut(items.length, chart.items.length),
  ];
  const head = heading(
    { title: chart.title, note: parts.reduce((note, part) => withNote(note, part), undefined) },
    coloured ? groups.all.map((name, index) => ({ name: name || 'not set', color: colourOf(index) })) : [],
    labels,
    WIDTH,
  );
  const steps = (chart.y.steps ?? []).map((name) => labels.fit(name, 160, FONT_SIZE));
  const left = MARGIN + 36 + Math.max(56, ...steps.map((name) => textWidth(name, FONT_SIZE)));
  const plot = { width: WIDTH - left - MARGIN - 24, height: PLOT };
  const largest = Math.max(0, ...items.map(({ size }) => size ?? 0));
  // many circles are smaller ones
  const most = Math.min(RADIUS.most, Math.max(RADIUS.least + 1, 90 / Math.sqrt(Math.max(1, items.length))));
  const places = placesOf(chart, items, plot);
  return {
    width: WIDTH,
    height: head.bottom + PLOT + 64,
    shortened: labels.shortened,
    description: `Circles of ${items.length} of ${chart.items.length} items by ${chart.x.name} and ${chart.y.name}`,
    option: {
      ...head.option,
      grid: { outerBoundsMode: 'none', left, top: head.bottom, width: plot.width, height: plot.height },
      xAxis: numberAxis(chart.x, 34, plot.width, labels, workspace),
      yAxis: numberAxis(chart.y, left - MARGIN - 12, plot.height, labels, workspace),
      series: [
        {
          type: 'scatter',
          clip: false,
          data: items.map((item, index) => {
            const color = colourOf(groups.of(item.group ?? ''));
            return {
              value: places[index],
              symbolSize: diameter(item.size, largest, chart, most),
              itemStyle: { color, opacity: 0.9, borderColor: PAPER, borderWidth: 1 },
              label: { show: index < NAMED, formatter: () => labels.fit(item.name, 150, FONT_SIZE) },
            };
          }),
          label: {
            show: true,
            position: 'top',
            distance: 2,
            ...halo,
            fontFamily: 'sans-serif',
            fontSize: FONT_SIZE,
          },
          labelLayout: { hideOverlap: true },
        },
      ],
    },
  };
}

/** The area tells the size. */
function diameter(size: number | undefined, largest: number, chart: BubblesChart, most: number): number {
  if (!chart.size) return 2 * Math.min(most, RADIUS.least + 1);
  const share = largest > 0 ? Math.sqrt(Math.max(0, size ?? 0) / largest) : 0;
  return 2 * (RADIUS.least + share * Math.max(0, most - RADIUS.least));
}

/** Values as they are; on steps spread within the step, in rows, so that each circle is seen. */
function placesOf(
  chart: BubblesChart,
  items: BubblesChart['items'],
  plot: { width: number; height: number },
): [number, number][] {
  if (!chart.x.steps || !chart.y.steps) return items.map(({ x, y }) => [x, y]);
  const cells = new Map<string, number[]>();
  for (const [index, { x, y }] of items.entries()) {
    const key = `${x} ${y}`;
    cells.set(key, [...(cells.get(key) ?? []), index]);
  }
  const ratio = plot.width / chart.x.steps.length / (plot.height / chart.y.steps.length);
  const places: [number, number][] = [];
  for (const indexes of cells.values()) {
    const columns = Math.max(1, Math.ceil(Math.sqrt(indexes.length * ratio * 0.6)));
    const rows = Math.ceil(indexes.length / columns);
    for (const [at, index] of indexes.entries()) {
      const { x, y } = items[index]!;
      const inRow = Math.min(columns, indexes.length - Math.floor(at / columns) * columns);
      places[index] = [
        x + (((at % columns) + 0.5) / inRow - 0.5) * 0.9,
        y - ((Math.floor(at / columns) + 0.5) / rows - 0.5) * 0.8,
      ];
    }
  }
  return places;
}

function numberAxis(
  of: BubbleAxis,
  gap: number,
  pixels: number,
  labels: Labels,
  workspace: ChartWorkspace,
): Record<string, unknown> {
  const { steps } = of;
  if (steps) {
    const room = Math.min(160, pixels / steps.length - 8);
    return axis(of.name, gap, {
      type: 'value',
      min: -0.5,
      max: steps.length - 0.5,
      interval: 0.5,
      splitLine: { show: false },
      axisLabel: {
        hideOverlap: false,
        formatter: (value: number) =>
          Number.isInteger(value) && steps[value] !== undefined
            ? labels.fit(steps[value], room, FONT_SIZE)
            : '',
      },
      splitArea: { show: false },
    });
  }
  return axis(axisTitle(of.name, of.unit, workspace), gap, {
    type: 'value',
    scale: true,
    splitNumber: 6,
    axisLabel: { hideOverlap: true, formatter: (value: number) => formatValue(value, of.unit, workspace) },
  });
}
