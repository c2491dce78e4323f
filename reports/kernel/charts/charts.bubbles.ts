import { layoutCells } from './charts.cells.ts';
import { circleMark, NAME_WIDTH, nameMark, type PlacedCircle, radiusOf } from './charts.circles.ts';
import { areaHeight, isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture } from './charts.marks.ts';
import { placeNames } from './charts.names.ts';
import { axisTitle, formatCount, formatValue, numberWriter, tickWriter } from './charts.numbers.ts';
import {
  heading,
  LABEL,
  type LegendEntry,
  label,
  labelAt,
  nothing,
  omittedNote,
  type Scale,
  scaleOf,
  ticksOf,
  withNote,
} from './charts.parts.ts';
import { plain, shorten } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import type { BubbleAxis, BubblesChart } from './charts.types.ts';

import { textWidth } from './charts.widths.ts';

const MOST = 500;
/** Maximum number of labelled circles. */
const NAMED = 60;

/** Circles at two values: in cells if both axes have steps, else on numeric axes. */
export function layoutBubbles(chart: BubblesChart, look: Look): Picture {
  const note = withNote(withNote(chart.note, sizeNote(chart, look)), coloursNote(chart, look));
  if (chart.x.steps && chart.y.steps && chart.items.length > 0) {
    return layoutCells(chart, look, heading(look, { title: chart.title, note }, legendOf(chart, look)));
  }
  return layoutScatter(chart, look, note);
}

const coloursNote = ({ groupAxis }: BubblesChart, { workspace }: Look): string | undefined =>
  groupAxis === undefined ? undefined : chartText(workspace, 'bubbles.colour', { name: groupAxis });

/** The meaning of the circles' area, and the value of the largest. */
function sizeNote({ size, items }: BubblesChart, { workspace }: Look): string | undefined {
  const known = items.flatMap(({ size: one }) => (one === undefined ? [] : [one]));
  if (!size) return undefined;
  const name = plain(size.name);
  if (known.length === 0) return chartText(workspace, 'bubbles.areaNone', { name });
  const largest = formatValue(Math.max(...known), size.unit, workspace);
  const missing = items.length - known.length;
  return chartText(workspace, missing > 0 ? 'bubbles.areaSome' : 'bubbles.area', { name, largest, missing });
}

/** Each group with its count and sum. */
function legendOf({ groups, items, size }: BubblesChart, look: Look): LegendEntry[] {
  const rows = (groups ?? []).map(({ name, paint }) => {
    const own = items.filter(({ group }) => group === name);
    return { name, paint, count: own.length, sum: own.reduce((sum, item) => sum + (item.size ?? 0), 0) };
  });
  const isSummed = size !== undefined && size.unit === 'currency' && rows.some(({ sum }) => sum > 0);
  const write = numberWriter(
    rows.map(({ sum }) => sum),
    size?.unit ?? 'number',
    look.workspace,
  );
  return rows
    .filter(({ count }) => count > 0)
    .map(({ name, paint, count, sum }) => ({
      name,
      paint,
      shape: 'dot',
      extra: `${formatCount(count, look.workspace)}${isSummed ? ` · ${write(sum)}` : ''}`,
    }));
}

/** Circles on one or two numeric axes. */
function layoutScatter(chart: BubblesChart, look: Look, note: string | undefined): Picture {
  const { scheme, margin, width } = look;
  const items = chart.items.slice(0, MOST);
  const head = heading(
    look,
    { title: chart.title, note: withNote(note, omittedNote(look, items.length, chart.items.length)) },
    legendOf(chart, look),
  );
  const description = chartText(look.workspace, 'bubbles.description', {
    shown: items.length,
    total: chart.items.length,
    x: chart.x.name,
    y: chart.y.name,
  });
  if (items.length === 0)
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  const [x, y] = [
    axisOf(
      chart.x,
      items.map((item) => item.x),
      look,
    ),
    axisOf(
      chart.y,
      items.map((item) => item.y),
      look,
    ),
  ];
  const left = margin + Math.max(...y.ticks.map(({ text }) => textWidth(text, LABEL))) + 12;
  const top = head.bottom + 20;
  const plot = {
    width: width - left - margin - 12,
    height: areaHeight(look, top, 38 + margin, isNarrow(look) ? 380 : 520),
  };
  const bottom = top + plot.height;
  const xOf = (value: number) => left + x.share(value) * plot.width;
  const yOf = (value: number) => bottom - y.share(value) * plot.height;
  const largest = Math.max(0, ...items.map(({ size }) => size ?? 0));
  const most = Math.min(28, Math.max(7, 130 / Math.sqrt(items.length)));
  const circles = apart(
    items.map((item) => ({
      item,
      x: xOf(item.x),
      y: yOf(item.y),
      radius: chart.size ? radiusOf(item.size, largest, most) : 6,
    })),
    bottom,
  );
  const named = placeNames(
    circles.map((circle) => ({
      ...circle,
      width: textWidth(shorten(plain(circle.item.name), NAME_WIDTH, LABEL), LABEL),
    })),
    { left: left + 2, top: top - 2, right: width - 4, bottom: bottom - 2 },
    ['top', 'right', 'left', 'bottom'],
    NAMED,
  );
  const grid = [
    ...y.ticks.flatMap(({ value, text }): Mark[] => [
      line([left, yOf(value)], [left + plot.width, yOf(value)], scheme.hairline),
      labelAt(look, left - 8, yOf(value), text, { anchor: 'end', fill: scheme.text2 }),
    ]),
    ...spacedTicks(x.ticks, xOf).flatMap(({ value, text }): Mark[] => [
      line([xOf(value), top], [xOf(value), bottom], scheme.hairline),
      label(look, xOf(value), bottom + 17, text, { anchor: 'middle', fill: scheme.text2 }),
    ]),
  ];
  return {
    width,
    height: bottom + 38 + margin,
    marks: [
      ...head.marks,
      label(look, margin, top - 8, axisTitle(chart.y.name, chart.y.unit, look.workspace), {
        fill: scheme.text2,
      }),
      label(look, left + plot.width, bottom + 36, axisTitle(chart.x.name, chart.x.unit, look.workspace), {
        anchor: 'end',
        fill: scheme.text2,
      }),
      ...grid,
      ...circles.map((circle) => circleMark(chart, look, circle)),
      ...circles.flatMap((circle, at) => nameMark(look, circle, named[at])),
    ],
    description,
  };
}

/** How far from their point circles are placed that share it with others. */
const REACH = 24;
/** The angle between two neighbours of a spiral that covers a disc evenly. */
const GOLDEN = 2.399963;

/** Circles of one point side by side around it, above the horizontal axis, so that each is seen and can be pointed at. */
function apart(circles: readonly PlacedCircle[], bottom: number): PlacedCircle[] {
  const byPoint = Map.groupBy(circles, ({ x, y }) => `${Math.round(x)} ${Math.round(y)}`);
  const placed = [...byPoint.values()].flatMap((own) => {
    if (own.length === 1) return own;
    const most = Math.max(...own.map(({ radius }) => radius));
    const step = Math.min(most * 1.8, REACH / Math.sqrt(own.length - 1));
    return own.map((circle, at) => ({
      ...circle,
      x: circle.x + Math.cos(at * GOLDEN) * step * Math.sqrt(at),
      y: Math.min(
        circle.y + Math.sin(at * GOLDEN) * step * Math.sqrt(at),
        Math.max(circle.y, bottom - circle.radius),
      ),
    }));
  });
  // the largest are drawn first
  return placed.sort((a, b) => b.radius - a.radius);
}

/** Ticks whose texts do not touch. */
function spacedTicks<T extends { value: number; text: string }>(
  ticks: T[],
  xOf: (value: number) => number,
): T[] {
  let free = -Infinity;
  return ticks.filter(({ value, text }) => {
    const half = textWidth(text, LABEL) / 2;
    if (xOf(value) - half < free) return false;
    free = xOf(value) + half + 8;
    return true;
  });
}

function axisOf({ steps, unit }: BubbleAxis, values: number[], look: Look) {
  const scale: Scale = steps
    ? { min: -0.5, max: Math.max(steps.length, 1) - 0.5, interval: 1 }
    : scaleOf(values);
  const share = (value: number) => (value - scale.min) / (scale.max - scale.min);
  if (steps)
    return { share, ticks: steps.map((text, value) => ({ value, text: shorten(plain(text), 130, LABEL) })) };
  const ticks = ticksOf(scale);
  const write = tickWriter(ticks, unit, look.workspace);
  return { share, ticks: ticks.map((value) => ({ value, text: write(value) })) };
}
