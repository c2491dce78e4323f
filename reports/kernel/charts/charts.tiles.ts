import { mix, textOn } from './charts.colours.ts';
import { fillOf } from './charts.look.ts';
import type { Look, Mark } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { emptyStyle, LABEL, label, paragraph } from './charts.parts.ts';
import { plain, wrap } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { radius, weight } from './charts.tokens.ts';
import type { Node } from './charts.tree.ts';
import type { BoxesChart, Paint } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** The steps of a scale: the upper limits, from the lowest value on. */
export interface Steps {
  limits: number[];
  hasZero: boolean;
}

/** What boxes need to be drawn. */
export interface BoxFrame {
  look: Look;
  chart: BoxesChart;
  steps: Steps | undefined;
  /** Writes the values of all boxes alike. */
  write(value: number): string;
  /** Whether no box has a value. */
  isBlank: boolean;
  /** Whether boxes without items are marked. */
  marksGaps: boolean;
}

/** Marks from (0, 0) on, and their height. */
export interface Drawn {
  marks: Mark[];
  height: number;
}

/** Maximum number of items written in a tile: with and without a paint of the tile. */
const WRITTEN = { painted: 3, neutral: 6 };
/** Maximum number of lines of a name. */
const NAME_LINES = 3;
const PAD = 8;
const LINE = 15;
const EDGE = 3;
/** Share of the colour in the fill of a tile. */
const FILL = 0.3;
const STEPS = 6;

/** The n-th of several steps on the palette of seven, without its lightest if there are few. */
export const stepOf = (at: number, count: number): number =>
  count === 1 ? 3 : Math.round(1 + (at * 5) / Math.max(1, count - 1));

/** Steps of equal width over the values of the drawn tiles. */
export function scaleSteps({ scale }: BoxesChart, nodes: Node[], levels: number): Steps | undefined {
  if (!scale) return undefined;
  const values: number[] = [];
  const visit = (node: Node, level: number): void => {
    const isTile = level >= levels || node.children.length === 0;
    const value = isTile ? node.value : node.box.value;
    if (value !== undefined) values.push(value);
    if (!isTile) for (const child of node.children) visit(child, level + 1);
  };
  for (const node of nodes) visit(node, 1);
  const most = values.reduce((max, value) => Math.max(max, value), 0);
  const hasZero = values.some((value) => value <= 0);
  if (most <= 0) return { limits: [0], hasZero };
  if (scale.unit === 'count' && most <= STEPS)
    return { limits: Array.from({ length: most + 1 }, (_, at) => at), hasZero };
  const raw = most / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10]
    .map((times) => times * power)
    .find((one) => one >= raw * 0.999 && (scale.unit !== 'count' || Number.isInteger(one)))!;
  return {
    limits: Array.from({ length: Math.ceil(most / step) + 1 }, (_, at) =>
      Number((at * step).toPrecision(12)),
    ),
    hasZero,
  };
}

/** The value of a box; nothing for zero, which the empty fill says. */
export const writtenValue = ({ write }: BoxFrame, value: number | undefined): string =>
  value ? write(value) : '';

const paintByValue = (value: number, { limits }: Steps): Paint => {
  const at = limits.findIndex((limit) => value <= limit);
  return { step: stepOf((at < 0 ? limits.length - 1 : at) - 1, limits.length - 1) };
};

/**
 * A leaf, or a box whose lower levels are folded: its name and what it has, filled by its paint or value.
 * @param height that of its row; default: as high as its content.
 */
export function tile(frame: BoxFrame, node: Node, width: number, folded: boolean, height?: number): Drawn {
  const { look, chart, marksGaps } = frame;
  const { scheme } = look;
  const isFolded = node.isRest || (folded && node.children.length > 0);
  const isGap = marksGaps && node.items.size === 0;
  const value = isFolded || node.children.length === 0 ? node.value : node.box.value;
  const style = styleOf(frame, node, value, isGap, isFolded);
  const figure = chart.scale ? writtenValue(frame, value) : '';
  const room = width - PAD - PAD - EDGE;
  const nameRoom = room - (figure ? textWidth(figure, LABEL) + 8 : 0);
  const name = plain(node.box.name);
  const names = wrap(name, nameRoom, LABEL, NAME_LINES, weight.emphasis, look.workspace).length;
  const lines = contentLines(frame, node, isFolded, isGap, room);
  const own =
    PAD + names * LINE + lines.length * LINE + (isFolded && node.spread.size > 0 ? 10 : 0) + PAD - 2;
  const high = height ?? own;
  const marks: Mark[] = [style.ground(width, high)];
  if (style.edge)
    marks.push({ kind: 'rect', x: 0, y: 0, width: EDGE, height: high, fill: style.edge, radius: 1 });
  const x = PAD + EDGE;
  let y = PAD + 10;
  marks.push(
    ...paragraph(look, x, y, name, {
      room: nameRoom,
      most: NAME_LINES,
      weight: weight.emphasis,
      fill: style.ink,
    }),
  );
  if (figure)
    marks.push(
      label(look, width - PAD, y, figure, { anchor: 'end', fill: style.ink, weight: weight.emphasis }),
    );
  y += (names - 1) * (16 - LINE) + names * LINE;
  for (const line of lines) {
    if (line.paint === 'none')
      marks.push({
        kind: 'circle',
        x: x + 3,
        y: y - 4,
        radius: 2.5,
        fill: scheme.panel,
        stroke: scheme.border,
      });
    else if (line.paint)
      marks.push({ kind: 'circle', x: x + 3, y: y - 4, radius: 3, fill: fillOf(line.paint, look) });
    const from = line.paint ? x + 11 : x;
    const extra = line.extra ? textWidth(line.extra, 11) + 6 : 0;
    const text = label(look, from, y, line.text, {
      size: 11,
      fill: style.ink2,
      room: width - PAD - from - extra,
    });
    marks.push(text);
    if (line.extra) {
      marks.push(
        label(look, from + textWidth(text.text, 11) + 6, y, line.extra, {
          size: 11,
          fill: style.ink2,
          weight: weight.emphasis,
        }),
      );
    }
    y += LINE;
  }
  if (isFolded && node.spread.size > 0) marks.push(...spreadOf(frame, node, x, y - 6, room));
  return { marks, height: high };
}

interface Line {
  text: string;
  paint?: Paint | undefined;
  extra?: string;
}

function contentLines(
  { look: { workspace }, chart, marksGaps }: BoxFrame,
  node: Node,
  isFolded: boolean,
  isGap: boolean,
  room: number,
): Line[] {
  const [one, several] = chart.member;
  if (isFolded) {
    // the figure of the tile says it
    const isCounted = chart.scale?.unit === 'count' && node.value === node.items.size;
    const parts = [
      node.below > 0 ? chartText(workspace, 'boxes.below', { count: node.below }) : '',
      node.items.size > 0 && !isCounted
        ? chartText(workspace, 'boxes.members', { count: node.items.size, one, several })
        : '',
      marksGaps && node.gaps > 0 ? chartText(workspace, 'boxes.gaps', { count: node.gaps }) : '',
    ].filter(Boolean);
    return joined(parts, room).map((text) => ({ text }));
  }
  if (isGap) return [{ text: chartText(workspace, 'boxes.none', { name: one }) }];
  const items = [...node.items.values()];
  const most = node.box.paint || chart.scale ? WRITTEN.painted : WRITTEN.neutral;
  const shown = items.slice(0, most);
  const rest = items.length - shown.length;
  return shown.map(({ name, paint }, at) => ({
    text: name,
    paint: paint ?? (chart.legend ? 'others' : undefined),
    ...(rest > 0 && at === shown.length - 1 ? { extra: `+${formatCount(rest, workspace)}` } : {}),
  }));
}

/** Parts in as few lines as they fit in. */
function joined(parts: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)} · ${part}`;
    if (lines.length > 0 && textWidth(longer, 11) <= room) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

interface TileStyle {
  ground(width: number, height: number): Mark;
  edge: string | undefined;
  ink: string;
  ink2: string;
}

function styleOf(
  { look, chart, steps }: BoxFrame,
  node: Node,
  value: number | undefined,
  isGap: boolean,
  isFolded: boolean,
): TileStyle {
  const { scheme } = look;
  const at = (width: number, height: number) =>
    ({ kind: 'rect', x: 0, y: 0, width, height, radius: radius.chip }) as const;
  const title = node.box.name;
  const plainInk = { ink: scheme.text, ink2: scheme.text2, edge: undefined };
  if (isGap && !chart.scale) {
    return {
      ...plainInk,
      ground: (width, height) => ({ ...at(width, height), ...emptyStyle(look), dashed: true, title }),
    };
  }
  if (steps && !node.isRest) {
    if (value === undefined || value <= 0) {
      return {
        ...plainInk,
        ground: (width, height) => ({
          ...at(width, height),
          fill: scheme.panel,
          stroke: scheme.hairlineStrong,
          title,
        }),
      };
    }
    const fill = fillOf(paintByValue(value, steps), look);
    const ink = textOn(fill, scheme);
    return {
      ink,
      ink2: ink,
      edge: undefined,
      ground: (width, height) => ({
        ...at(width, height),
        fill,
        stroke: mix(fill, scheme.text, 0.12),
        title,
      }),
    };
  }
  if (node.box.paint && !isFolded) {
    const edge = fillOf(node.box.paint, look);
    const fill = mix(scheme.panel, edge, FILL);
    return {
      edge,
      ink: scheme.text,
      ink2: scheme.text,
      ground: (width, height) => ({ ...at(width, height), fill, title }),
    };
  }
  return {
    ...plainInk,
    ground: (width, height) => ({
      ...at(width, height),
      fill: scheme.panel,
      stroke: scheme.hairlineStrong,
      title,
    }),
  };
}

/** The leaves of a folded box by paint. */
function spreadOf({ look, chart }: BoxFrame, { spread }: Node, x: number, y: number, width: number): Mark[] {
  const order = (chart.legend ?? []).map(({ paint }) => JSON.stringify(paint));
  const total = [...spread.values()].reduce((sum, count) => sum + count, 0);
  let from = x;
  return [...spread]
    .toSorted(([a], [b]) => order.indexOf(b) - order.indexOf(a))
    .map(([key, count]): Mark => {
      const part = (count / total) * width;
      from += part;
      return {
        kind: 'rect',
        x: from - part,
        y,
        width: Math.max(1, part - 1),
        height: 5,
        radius: 1,
        fill: fillOf(JSON.parse(key), look),
      };
    });
}
