import { NAME_GAP, type NamePlace, placeNames } from './charts.names.ts';
import { axis, groupColour, groupNames, halo, heading, leftOut, withNote } from './charts.parts.ts';
import { axisTitle, formatValue, Labels, plain, shorten, textWidth } from './charts.text.ts';
import { colour, FONT_SIZE, MARGIN, PALETTE, PAPER, WIDTH } from './charts.theme.ts';
import type { BubbleAxis, BubblesChart, ChartWorkspace, Layout } from './charts.types.ts';

const MOST = 500;
/** How many are named; names of more would leave nothing to be seen. */
const NAMED = 60;
/** Longest name, in pixels. */
const NAME_WIDTH = 150;
const PLOT = 560;
/** In pixels. The more circles there are, the smaller all of them are drawn. */
const RADIUS = { least: 5, most: 24, mostOfMany: 8 };

/** Circles at their values; on named steps those of one place stand beside each other. Names that find no place are left out. */
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
    sizeNote(chart, workspace),
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
  const most = Math.min(RADIUS.most, Math.max(RADIUS.mostOfMany, 110 / Math.sqrt(Math.max(1, items.length))));
  const places = placesOf(chart, items, plot);
  const x = scaleOn(
    chart.x,
    items.map((item) => item.x),
  );
  const y = scaleOn(
    chart.y,
    items.map((item) => item.y),
  );
  const named = placeNames(
    items.map(({ name, size }, index) => ({
      x: left + share(places[index]![0], x) * plot.width,
      y: head.bottom + (1 - share(places[index]![1], y)) * plot.height,
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
              value: places[index],
              symbolSize: diameter(item.size, largest, chart, most),
              itemStyle: { color, opacity: 0.9, borderColor: PAPER, borderWidth: 1 },
              label: labelOf(named[index], () => labels.fit(item.name, NAME_WIDTH, FONT_SIZE)),
            };
          }),
          label: { ...halo, distance: NAME_GAP, fontFamily: 'sans-serif', fontSize: FONT_SIZE },
        },
      ],
    },
  };
}

/** A name beside its circle; a function tells it, since a text would be taken for a template. */
function labelOf(place: NamePlace | undefined, name: () => string): Record<string, unknown> {
  if (!place) return { show: false };
  const text = name();
  return { show: true, position: place.side, offset: [place.shift, 0], formatter: () => text };
}

/** What the size of the circles means, and what the largest stands for. */
function sizeNote({ size, items }: BubblesChart, workspace: ChartWorkspace): string | undefined {
  if (!size) return undefined;
  const largest = Math.max(0, ...items.map((item) => item.size ?? 0));
  const upTo = largest > 0 ? `, up to ${formatValue(largest, size.unit, workspace)}` : '';
  return `Size: ${axisTitle(size.name, size.unit, workspace)}${upTo}`;
}

/** The area tells the size. */
function diameter(size: number | undefined, largest: number, chart: BubblesChart, most: number): number {
  if (!chart.size) return 2 * Math.min(most, RADIUS.least + 1);
  const share = largest > 0 ? Math.sqrt(Math.max(0, size ?? 0) / largest) : 0;
  const least = Math.min(RADIUS.least, 0.4 * most);
  return 2 * (least + share * (most - least));
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

/** From where to where an axis goes. */
const scaleOn = ({ steps }: BubbleAxis, values: number[]): Scale =>
  steps ? { min: -0.5, max: Math.max(steps.length, 1) - 0.5, interval: 0.5 } : scaleOf(values);

/** How far along its axis a value stands, 0 to 1. */
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

/** An axis of numbers from one round value to another. */
interface Scale {
  min: number;
  max: number;
  /** Between two of its values. */
  interval: number;
}

/** What is smaller is nothing to be drawn. */
const LEAST = 1e-99;
/** Steps that an axis has about. */
const STEPS = 6;

/**
 * The axis that shows all values with some room at its ends, in steps of 1, 2 or 5 times a power of ten. It begins at
 * zero where the values are not far from there.
 */
export function scaleOf(values: readonly number[]): Scale {
  const known = values.filter(Number.isFinite);
  const least = known.reduce((min, value) => Math.min(min, value), Infinity);
  const most = known.reduce((max, value) => Math.max(max, value), -Infinity);
  if (known.length === 0) return { min: 0, max: 1, interval: 1 };
  const low = least > 0 && least < most / 2 ? 0 : least;
  const high = most < 0 && most > least / 2 ? 0 : most;
  const size = Math.max(Math.abs(low), Math.abs(high));
  // values that are as good as the same stand in the middle
  const span = size < LEAST ? 1 : high - low > size * 1e-9 ? high - low : size;
  const interval = roundStep(span / STEPS);
  const room = span / 25;
  const from = low === 0 ? 0 : low - room;
  const to = high === 0 && low < 0 ? 0 : high + room;
  return {
    min: exact(Math.floor(from / interval) * interval),
    max: exact(Math.ceil(to / interval) * interval),
    interval,
  };
}

/** The next of 1, 2 and 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) ?? 10;
  return exact(times * power);
}

/** Without what reckoning by powers of ten leaves behind. */
const exact = (value: number): number => Number(value.toPrecision(12));
