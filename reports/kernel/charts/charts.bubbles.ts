import { NAME_GAP, type NamePosition, placeNames } from './charts.names.ts';
import { axis, groupColour, groupNames, heading, omittedNote, textBorder, withNote } from './charts.parts.ts';
import { axisTitle, formatValue, Labels, plain, shorten, textWidth } from './charts.text.ts';
import { BACKGROUND_COLOR, FONT_SIZE, MARGIN, PALETTE, WIDTH } from './charts.theme.ts';
import type { BubbleAxis, BubblesChart, ChartWorkspace, Layout } from './charts.types.ts';

const MOST = 500;
/** Maximum number of labelled circles, so that labels do not cover the circles. */
const NAMED = 60;
/** Maximum width of a name, in pixels. */
const NAME_WIDTH = 150;
const PLOT = 560;
/** In pixels. The maximum decreases with the number of circles. */
const RADIUS = { least: 5, most: 24, mostOfMany: 8 };

/** Circles at their values. On category axes, circles in the same cell are spread. Names without free space are omitted. */
export function layoutBubbles(chart: BubblesChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const items = chart.items.slice(0, MOST);
  const groups = groupNames(
    items.map(({ group }) => group ?? ''),
    PALETTE.length,
  );
  const colourOf = (index: number) => groupColour(index, groups.kept);
  const coloured = chart.groupAxis !== undefined;
  const parts = [
    chart.note,
    sizeNote(chart, workspace),
    coloured ? `Colour: ${chart.groupAxis}` : undefined,
    omittedNote(items.length, chart.items.length),
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
  // the more circles, the smaller
  const most = Math.min(RADIUS.most, Math.max(RADIUS.mostOfMany, 110 / Math.sqrt(Math.max(1, items.length))));
  const positions = positionsOf(chart, items, plot);
  const xs = items.map((item) => item.x);
  const x = scaleOn(chart.x, xs);
  const ys = items.map((item) => item.y);
  const y = scaleOn(chart.y, ys);
  const named = placeNames(
    items.map(({ name, size }, index) => ({
      x: left + share(positions[index]![0], x) * plot.width,
      y: head.bottom + (1 - share(positions[index]![1], y)) * plot.height,
      radius: diameter(size, largest, chart, most) / 2,
      width: textWidth(shorten(plain(name), NAME_WIDTH, FONT_SIZE), FONT_SIZE),
    })),
    { left: left + 2, top: head.bottom - 4, right: WIDTH - 2, bottom: head.bottom + plot.height - 2 },
    ['top', 'right', 'left', 'bottom'],
    NAMED,
  );
  return {
    width: WIDTH,
    height: head.bottom + PLOT + 64,
    shortened: labels.shortened,
    description: `Circles of ${items.length} of ${chart.items.length} items by ${chart.x.name} and ${chart.y.name}`,
    option: {
      ...head.option,
      grid: { outerBoundsMode: 'none', left, top: head.bottom, width: plot.width, height: plot.height },
      xAxis: numberAxis(chart.x, x, 34, plot.width, labels, workspace),
      yAxis: numberAxis(chart.y, y, left - MARGIN - 12, plot.height, labels, workspace),
      series: [
        {
          type: 'scatter',
          clip: false,
          data: items.map((item, index) => {
            const color = colourOf(groups.of(item.group ?? ''));
            return {
              value: positions[index],
              symbolSize: diameter(item.size, largest, chart, most),
              itemStyle: { color, opacity: 0.9, borderColor: BACKGROUND_COLOR, borderWidth: 1 },
              label: labelOf(named[index], () => labels.fit(item.name, NAME_WIDTH, FONT_SIZE)),
            };
          }),
          label: { ...textBorder, distance: NAME_GAP, fontFamily: 'sans-serif', fontSize: FONT_SIZE },
        },
      ],
    },
  };
}

/** The label of a circle. The formatter is a function, since a string would be parsed as a template. */
function labelOf(place: NamePosition | undefined, name: () => string): Record<string, unknown> {
  if (!place) return { show: false };
  const text = name();
  return { show: true, position: place.side, offset: [place.shift, 0], formatter: () => text };
}

/** Describes the meaning of the circles' size and the value of the largest. */
function sizeNote({ size, items }: BubblesChart, workspace: ChartWorkspace): string | undefined {
  if (!size) return undefined;
  const largest = Math.max(0, ...items.map((item) => item.size ?? 0));
  const upTo = largest > 0 ? `, up to ${formatValue(largest, size.unit, workspace)}` : '';
  return `Size: ${axisTitle(size.name, size.unit, workspace)}${upTo}`;
}

/** The diameter for a size; the area is proportional to the size. */
function diameter(size: number | undefined, largest: number, chart: BubblesChart, most: number): number {
  if (!chart.size) return 2 * Math.min(most, RADIUS.least + 1);
  const share = largest > 0 ? Math.sqrt(Math.max(0, size ?? 0) / largest) : 0;
  const least = Math.min(RADIUS.least, 0.4 * most);
  return 2 * (least + share * (most - least));
}

/** Coordinates of the circles; on category axes spread in rows within their cell. */
function positionsOf(
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
  const positions: [number, number][] = [];
  for (const indexes of cells.values()) {
    const columns = Math.max(1, Math.ceil(Math.sqrt(indexes.length * ratio * 0.6)));
    const rows = Math.ceil(indexes.length / columns);
    for (const [at, index] of indexes.entries()) {
      const { x, y } = items[index]!;
      const inRow = Math.min(columns, indexes.length - Math.floor(at / columns) * columns);
      positions[index] = [
        x + (((at % columns) + 0.5) / inRow - 0.5) * 0.9,
        y - ((Math.floor(at / columns) + 0.5) / rows - 0.5) * 0.8,
      ];
    }
  }
  return positions;
}

/** The range of an axis. */
const scaleOn = ({ steps }: BubbleAxis, values: number[]): Scale =>
  steps ? { min: -0.5, max: Math.max(steps.length, 1) - 0.5, interval: 0.5 } : scaleOf(values);

/** The relative position of a value on its axis, 0 to 1. */
const share = (value: number, { min, max }: Scale): number => (value - min) / (max - min);

function numberAxis(
  of: BubbleAxis,
  scale: Scale,
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
      ...scale,
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
    ...scale,
    axisLabel: { hideOverlap: true, formatter: (value: number) => formatValue(value, of.unit, workspace) },
  });
}

/** The range of a numeric axis, with round limits. */
interface Scale {
  min: number;
  max: number;
  /** Distance between two ticks. */
  interval: number;
}

/** Smaller values are treated as zero. */
const LEAST = 1e-99;
/** Approximate number of ticks. */
const STEPS = 6;

/**
 * Computes an axis that contains all values with some padding, with ticks at 1, 2 or 5 times a power of ten. It begins at
 * zero if the values are near zero.
 */
export function scaleOf(values: readonly number[]): Scale {
  const known = values.filter(Number.isFinite);
  const least = known.reduce((min, value) => Math.min(min, value), Infinity);
  const most = known.reduce((max, value) => Math.max(max, value), -Infinity);
  if (known.length === 0) return { min: 0, max: 1, interval: 1 };
  const low = least > 0 && least < most / 2 ? 0 : least;
  const high = most < 0 && most > least / 2 ? 0 : most;
  const size = Math.max(Math.abs(low), Math.abs(high));
  // (nearly) equal values are centred
  const span = size < LEAST ? 1 : high - low > size * 1e-9 ? high - low : size;
  const interval = roundStep(span / STEPS);
  const room = span / 25;
  const from = low === 0 ? 0 : low - room;
  const to = high === 0 && low < 0 ? 0 : high + room;
  const min = exact(Math.floor(from / interval) * interval);
  return { min, max: exact(Math.ceil(to / interval) * interval), interval };
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) ?? 10;
  return exact(times * power);
}

/** Removes floating-point errors. */
const exact = (value: number): number => Number(value.toPrecision(12));
