import { formatCount, type Labels, plain, textWidth } from './charts.text.ts';
import {
  AXIS,
  BACKGROUND_COLOR,
  colour,
  FAINT,
  FONT_SIZE,
  MARGIN,
  OTHERS,
  TEXT_COLOR,
  TITLE_SIZE,
} from './charts.theme.ts';

/** Height of one line of a legend, in pixels. */
const LEGEND_LINE = 24;

/** Style of all labels, with a font family that exists everywhere. */
const textStyle = { fontFamily: 'sans-serif', fontSize: FONT_SIZE, color: TEXT_COLOR };

/** A border that makes text readable on marks of any colour. */
export const textBorder = { color: TEXT_COLOR, textBorderColor: BACKGROUND_COLOR, textBorderWidth: 3 };

/** The heading of a chart: title, note, legend. */
export interface Heading {
  option: Record<string, unknown>;
  /** Bottom of the heading, in pixels from the top. */
  bottom: number;
}

/**
 * Lays out title, note and legend.
 * @param legend names with their colours, in order; empty for none.
 */
export function heading(
  head: { title: string; note?: string | undefined },
  legend: { name: string; color: string }[],
  labels: Labels,
  width: number,
): Heading {
  const space = width - 2 * MARGIN;
  const note = head.note ? labels.fit(head.note, space, FONT_SIZE) : '';
  const top = MARGIN + TITLE_SIZE + (note ? 12 + FONT_SIZE : 0) + 16;
  const title = {
    text: labels.fit(head.title, space, TITLE_SIZE),
    subtext: note,
    left: MARGIN - 5,
    top: MARGIN - 8,
    itemGap: 8,
    textStyle: { ...textStyle, fontSize: TITLE_SIZE, fontWeight: 'bold' },
    subtextStyle: { ...textStyle },
  };
  if (legend.length === 0) return { option: { title }, bottom: top };
  const { elements, lines } = legendElements(legend, labels, space, top);
  return { option: { title, graphic: { elements } }, bottom: top + lines * LEGEND_LINE + 4 };
}

/** Lays out legend entries from left to right, in several lines if necessary. */
function legendElements(
  legend: { name: string; color: string }[],
  labels: Labels,
  space: number,
  top: number,
): { elements: unknown[]; lines: number } {
  let x = 0;
  let line = 0;
  const elements: unknown[] = [];
  for (const { name, color } of legend) {
    const text = labels.fit(name, 200, FONT_SIZE);
    const width = 20 + textWidth(text, FONT_SIZE) + 18;
    if (x > 0 && x + width > space) {
      x = 0;
      line += 1;
    }
    const y = top + line * LEGEND_LINE;
    elements.push(
      {
        type: 'rect',
        silent: true,
        shape: { x: MARGIN + x, y, width: 14, height: 14 },
        style: { fill: color },
      },
      {
        type: 'text',
        silent: true,
        x: MARGIN + x + 20,
        y: y + 7,
        style: { text, fill: TEXT_COLOR, font: `${FONT_SIZE}px sans-serif`, textVerticalAlign: 'middle' },
      },
    );
    x += width;
  }
  return { elements, lines: line + 1 };
}

/** The style of an axis; `name` is its title. */
export function axis(
  name: string,
  gap: number,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  const { axisLabel, ...others } = extra;
  return {
    name: plain(name),
    nameLocation: 'middle',
    nameGap: gap,
    nameMoveOverlap: false,
    nameTextStyle: { ...textStyle, fontWeight: 'bold' },
    axisLine: { show: true, onZero: false, lineStyle: { color: AXIS } },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: FAINT } },
    axisLabel: { ...textStyle, ...(axisLabel as object) },
    ...others,
  };
}

/** The width left of a plot with these names of rows, including the title of their axis. */
export const widthOfNames = (names: readonly string[]): number =>
  MARGIN + 28 + Math.max(40, ...names.map((name) => textWidth(name, FONT_SIZE)));

/** The axis of rows with names, from top to bottom. @param left {@link widthOfNames} */
export const namesAxis = (title: string, names: readonly string[], left: number): Record<string, unknown> =>
  axis(title, left - MARGIN - 8, {
    type: 'category',
    inverse: true,
    data: names,
    splitLine: { show: false },
    axisLabel: { interval: 0 },
  });

/** Appends a sentence to the note. */
export const withNote = (note: string | undefined, more: string | undefined): string | undefined =>
  [note, more].filter(Boolean).join(' · ') || undefined;

/** The note about items that are not drawn. */
export const omittedNote = (drawn: number, all: number): string | undefined =>
  drawn < all
    ? `The first ${formatCount(drawn)} of ${formatCount(all)} are drawn; all are in the tables`
    : undefined;

/** The most frequent group names up to the bound; the others are combined into one, drawn in grey. */
export function groupNames(
  names: Iterable<string>,
  bound: number,
  known: readonly string[] = [],
): { of(name: string): number; all: string[]; kept: number } {
  const counts = new Map<string, number>(known.map((name) => [name, 0]));
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const kept = ranked.length > bound ? ranked.slice(0, bound - 1) : ranked;
  const index = new Map(kept.map((name, at) => [name, at]));
  const rest = ranked.length - kept.length;
  const all = rest > 0 ? [...kept, `${formatCount(rest)} others`] : kept;
  return { of: (name) => index.get(name) ?? kept.length, all, kept: kept.length };
}

/** The colour of the n-th group, grey for the combined ones. */
export const groupColour = (index: number, kept: number): string => (index >= kept ? OTHERS : colour(index));
