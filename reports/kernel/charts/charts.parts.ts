import { fillOf } from './charts.look.ts';
import { type Look, line, type Mark, middle, type TextMark } from './charts.marks.ts';
import { tickWriter } from './charts.numbers.ts';
import { plain, shorten, wrap } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { type, weight } from './charts.tokens.ts';
import type { ChartUnit, Paint } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** Size of labels in pixels. */
export const LABEL = type.secondary.size;
/** Height of a row of a legend. */
const LEGEND_ROW = 20;

/** An entry of a legend. */
export interface LegendEntry {
  name: string;
  paint: Paint;
  /** Written after the name, such as a count. */
  extra?: string | undefined;
  shape?: 'dot' | 'square' | 'diamond' | 'hollow' | 'hatch' | 'empty';
}

/** Style of a text besides its place. */
export type TextStyle = Partial<Pick<TextMark, 'size' | 'weight' | 'fill' | 'anchor' | 'halo' | 'turned'>> & {
  /** Width to which it is truncated. */
  room?: number | undefined;
};

/** A text at its baseline, truncated to its room. */
export function label(look: Look, x: number, y: number, words: string, style: TextStyle = {}): TextMark {
  const { room, size = LABEL, fill = look.scheme.text, ...others } = style;
  const whole = plain(words);
  const short = room === undefined ? whole : shorten(whole, room, size, others.weight);
  const mark: TextMark = { kind: 'text', x, y, text: short, size, fill, ...others };
  return short === whole ? mark : { ...mark, whole };
}

/** A text centred around `y`. */
export const labelAt = (look: Look, x: number, y: number, words: string, style: TextStyle = {}): TextMark =>
  label(look, x, middle(y, style.size ?? LABEL), words, style);

/** Lines of a text from the first baseline on. */
export function paragraph(
  look: Look,
  x: number,
  y: number,
  words: string,
  { room, most, ...style }: TextStyle & { room: number; most: number },
): Mark[] {
  const size = style.size ?? LABEL;
  const whole = plain(words);
  const lines = wrap(whole, room, size, most, style.weight, look.workspace);
  return lines.map((text, at) => {
    const mark = label(look, x, y + at * lineOf(size), text, style);
    return at === lines.length - 1 && !whole.endsWith(text) ? { ...mark, whole } : mark;
  });
}

/** The height of a line of text. */
const lineOf = (size: number): number =>
  size <= LABEL ? 16 : size <= type.panel.size ? 20 : Math.round(size * 1.27);

/** The heading of a chart: title, note, legend. */
export interface Heading {
  marks: Mark[];
  /** Bottom of the heading, in pixels from the top. */
  bottom: number;
}

/**
 * Lays out title, note and legend.
 * @param legend empty for none.
 */
export function heading(
  look: Look,
  { title, note }: { title: string; note?: string | undefined },
  legend: readonly LegendEntry[] = [],
): Heading {
  const { scheme, margin, width } = look;
  const room = width - 2 * margin;
  const size = look.isPanel ? type.reading.size : type.title.size;
  const marks: Mark[] = [];
  let y = margin - 14;
  if (title !== '') {
    y = margin + size * 0.8;
    const titles = paragraph(look, margin, y, title, { size, weight: weight.title, room, most: 2 });
    marks.push(...titles);
    y += (titles.length - 1) * lineOf(size);
  }
  if (note) {
    const notes = paragraph(look, margin, y + 22, note, {
      size: type.base.size,
      fill: scheme.text2,
      room,
      most: look.height === undefined ? 4 : 1,
    });
    marks.push(...notes);
    y += 22 + (notes.length - 1) * lineOf(type.base.size);
  }
  y += 14;
  if (legend.length > 0) {
    const drawn = legendMarks(look, legend, y + 6);
    marks.push(...drawn.marks);
    y = drawn.bottom;
  }
  return { marks, bottom: y + 10 };
}

/** Legend entries from left to right, in several rows if necessary. */
function legendMarks(look: Look, legend: readonly LegendEntry[], top: number): Heading {
  const { scheme, margin, width } = look;
  const marks: Mark[] = [];
  let x = margin;
  let y = top;
  for (const { name, paint, extra, shape } of legend) {
    const text = shorten(plain(name), 220, LABEL);
    const wide = textWidth(text, LABEL);
    const needed = 18 + wide + (extra ? 6 + textWidth(extra, LABEL) : 0);
    if (x > margin && x + needed > width - margin) {
      x = margin;
      y += LEGEND_ROW;
    }
    marks.push({ ...swatch(look, x + 5, y + 8, paint, shape ?? 'square'), legend: name });
    marks.push({
      legend: name,
      ...labelAt(look, x + 16, y + 8, text),
      ...(text === plain(name) ? {} : { whole: plain(name) }),
    });
    if (extra) marks.push(labelAt(look, x + 16 + wide + 6, y + 8, extra, { fill: scheme.text2 }));
    x += needed + 18;
  }
  return { marks, bottom: y + LEGEND_ROW };
}

/** The mark of a legend entry, centred. */
export function swatch(look: Look, x: number, y: number, paint: Paint, shape: LegendEntry['shape']): Mark {
  const { scheme } = look;
  const fill = fillOf(paint, look);
  if (shape === 'hollow' || (shape === 'dot' && paint === 'none')) {
    return { kind: 'circle', x, y, radius: 4.5, fill: scheme.panel, stroke: scheme.border };
  }
  if (shape === 'dot') return { kind: 'circle', x, y, radius: 5, fill };
  if (shape === 'diamond') return diamond(x, y, 5.5, fill);
  if (shape === 'empty') {
    return {
      kind: 'rect',
      x: x - 5,
      y: y - 5,
      width: 10,
      height: 10,
      radius: 2,
      fill: scheme.panel,
      stroke: scheme.border,
    };
  }
  if (shape === 'hatch') {
    return {
      kind: 'rect',
      x: x - 5,
      y: y - 5,
      width: 10,
      height: 10,
      radius: 2,
      fill: scheme.panel,
      stroke: fill,
      hatch: fill,
    };
  }
  if (paint === 'none') {
    return { kind: 'rect', x: x - 5, y: y - 5, width: 10, height: 10, radius: 2, ...emptyStyle(look) };
  }
  return { kind: 'rect', x: x - 5, y: y - 5, width: 10, height: 10, radius: 2, fill };
}

/** Fill and border of what has no value. */
export const emptyStyle = ({ scheme }: Look) => ({
  fill: scheme.panel,
  stroke: scheme.border,
  hatch: scheme.hairlineStrong,
});

/** A diamond, centred. */
export const diamond = (x: number, y: number, half: number, fill: string, title?: string): Mark => ({
  kind: 'path',
  d: `M${x} ${y - half}L${x + half} ${y}L${x} ${y + half}L${x - half} ${y}Z`,
  fill,
  title,
});

/** A numeric axis with round limits. */
export interface Scale {
  min: number;
  max: number;
  /** Distance between two ticks. */
  interval: number;
}

/** Smaller values are treated as zero. */
const LEAST = 1e-99;

/**
 * An axis that contains all values, with ticks at 1, 2 or 5 times a power of ten. It begins at zero if the values are near
 * zero, or if `zero` demands it.
 */
export function scaleOf(
  values: readonly number[],
  { steps = 6, zero = false, padded = true, whole = false } = {},
): Scale {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return { min: 0, max: 1, interval: 1 };
  const least = known.reduce((min, value) => Math.min(min, value), Infinity);
  const most = known.reduce((max, value) => Math.max(max, value), -Infinity);
  const low = least > 0 && (zero || least < most / 2) ? 0 : least;
  const high = most < 0 && (zero || most > least / 2) ? 0 : most;
  const size = Math.max(Math.abs(low), Math.abs(high));
  // (nearly) equal values are centred
  const span = size < LEAST ? 1 : high - low > size * 1e-9 ? high - low : size;
  const interval = Math.max(whole ? 1 : 0, roundStep(span / steps));
  const room = padded ? span / 25 : 0;
  const from = low === 0 ? 0 : low - room;
  const to = high === 0 && low < 0 ? 0 : high + room;
  const min = exact(Math.floor(from / interval) * interval);
  const max = exact(Math.ceil(to / interval - 1e-9) * interval);
  return { min, max: max > min ? max : exact(min + interval), interval };
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) ?? 10;
  return exact(times * power);
}

/** Removes floating-point errors. */
const exact = (value: number): number => Number(value.toPrecision(12));

/** The values of an axis' ticks. */
export const ticksOf = ({ min, max, interval }: Scale): number[] =>
  Array.from({ length: Math.round((max - min) / interval) + 1 }, (_, at) => exact(min + at * interval));

/** Vertical grid lines with numbers below, of a horizontal axis. */
export function valueAxisBelow(
  look: Look,
  scale: Scale,
  unit: ChartUnit,
  area: { left: number; right: number; top: number; bottom: number },
  largest?: number,
): Mark[] {
  const { scheme } = look;
  const ticks = ticksOf(scale);
  const write = tickWriter(ticks, unit, look.workspace, largest);
  let last = -Infinity;
  return ticks.flatMap((tick) => {
    const x = area.left + ((tick - scale.min) / (scale.max - scale.min)) * (area.right - area.left);
    const text = write(tick);
    const half = textWidth(text, LABEL) / 2;
    const grid = line([x, area.top], [x, area.bottom], tick === 0 ? scheme.hairlineStrong : scheme.hairline);
    if (x - half < last + 8) return [grid];
    last = x + half;
    return [grid, label(look, x, area.bottom + 16, text, { anchor: 'middle', fill: scheme.text2 })];
  });
}

/** Appends a sentence to the note. */
export const withNote = (note: string | undefined, more: string | undefined): string | undefined =>
  [note, more].filter(Boolean).join(' · ') || undefined;

/** The note about items that are not drawn. */
export const omittedNote = ({ workspace }: Look, drawn: number, all: number): string | undefined =>
  drawn < all ? chartText(workspace, 'omitted', { shown: drawn, total: all }) : undefined;

/** The paint of the n-th of several series; the combined ones are grey. */
export const seriesPaint = (index: number, kept: number): Paint =>
  index >= kept ? 'others' : { category: index };

/** A message in place of an empty chart. */
export const nothing = (look: Look, y: number, words = chartText(look.workspace, 'nothing')): Mark =>
  label(look, look.margin, y + 12, words, {
    fill: look.scheme.text2,
    size: type.base.size,
    room: look.width - 2 * look.margin,
  });

/** A sum that ignores unknown values; null if none is known. */
export const sumOf = (values: readonly (number | null | undefined)[]): number | null =>
  values.reduce<number | null>(
    (total, value) => (value === null || value === undefined ? total : (total ?? 0) + value),
    null,
  );
