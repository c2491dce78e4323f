import type { LayerNode, Layers } from './charts.layers.ts';
import { isNarrow } from './charts.look.ts';
import type { Look, Mark } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { LABEL, label } from './charts.parts.ts';
import { plain, wrap } from './charts.text.ts';
import { weight } from './charts.tokens.ts';

const GAP = 8;
/** Height of a line of text in a box. */
export const LINE = 15;
/** Space between columns for lines. */
const BETWEEN = { wide: 76, narrow: 22 };
/** Space between rows of layers for lines. */
const BELOW = 46;
const NODE = { most: 230, least: 110, stacked: 140, pad: 9 };
/** In little room: less padding, smaller text, a line more. */
const SMALL = { below: 130, pad: 5, size: 11, lines: 3 };
/** Width of the coloured edge of a box. */
export const EDGE = 3;

/** A box with its place. */
export interface Placed extends LayerNode {
  x: number;
  y: number;
  width: number;
  height: number;
  /** The name, with the number of a bundle before it. */
  lines: string[];
}

/** Boxes in their places, with the names of the layers. */
interface Places {
  nodes: Placed[];
  titles: Mark[];
  bottom: number;
}

/** The space between columns. */
export const between = (look: Look): number => (isNarrow(look) ? BETWEEN.narrow : BETWEEN.wide);

const roomOf = ({ width, margin }: Look): number => width - 2 * margin;

const columnWidth = (look: Look, columns: number): number =>
  Math.min(NODE.most, (roomOf(look) - (columns - 1) * between(look)) / columns);

/** Whether columns beside each other are too narrow for names. */
export const areStacked = (look: Look, columns: number): boolean => columnWidth(look, columns) < NODE.least;

/** How a name fits in a box. */
export const roomIn = (width: number) =>
  width < SMALL.below ? SMALL : { pad: NODE.pad, size: LABEL, lines: 2 };

/** A box of a width with the height of its content. */
function sized(look: Look, node: LayerNode, x: number, y: number, width: number): Placed {
  const { pad, size, lines: most } = roomIn(width);
  const name = plain(node.name);
  const words = node.names ? `${formatCount(node.count, look.workspace)} × ${name}` : name;
  const lines = wrap(words, width - 2 * pad - EDGE, size, most, weight.emphasis, look.workspace);
  const listed = node.names ? node.names.length + (node.count > node.names.length ? 1 : 0) : 0;
  return { ...node, x, y, width, height: (lines.length + listed) * LINE + 13, lines };
}

/** Layers as columns from left to right. */
export function inColumns(look: Look, { names, columns }: Layers, from: number): Places {
  const { width, margin, scheme } = look;
  const wide = columnWidth(look, columns.length);
  const step = columns.length > 1 ? (roomOf(look) - wide) / (columns.length - 1) : 0;
  const top = from + 30;
  const placed = columns.map((column, at) => columnOf(look, column, margin + at * step, wide));
  const height = Math.max(...placed.map((column) => column.at(-1)!.y + column.at(-1)!.height));
  const nodes = placed.flatMap((column) => {
    const free = height - (column.at(-1)!.y + column.at(-1)!.height);
    // spread evenly, so that lines are short
    const extra = column.length > 1 ? Math.min(free / (column.length + 1), 26) : free / 2;
    const shift = column.length > 1 ? (free - extra * (column.length - 1)) / 2 : extra;
    return column.map((node, at) => ({
      ...node,
      y: node.y + top + shift + (column.length > 1 ? at * extra : 0),
    }));
  });
  const titles = names.map((name, at) => {
    const begin = label(look, margin + at * step, top - 12, name, { fill: scheme.text2 });
    const isLast = at > 0 && at === names.length - 1;
    const room = isLast ? wide : Math.max(wide, step - 8);
    const short = label(look, margin + at * step, top - 12, name, { fill: scheme.text2, room });
    // the last one may begin left of its boxes
    return isLast && short.text !== begin.text
      ? label(look, width - margin, top - 12, name, { fill: scheme.text2, anchor: 'end', room: step - 8 })
      : short;
  });
  return { nodes, titles, bottom: top + height };
}

/** The nodes of a layer from top to bottom, from 0 on. */
function columnOf(look: Look, column: LayerNode[], x: number, width: number): Placed[] {
  let y = 0;
  return column.map((node, at) => {
    if (at > 0 && column[at - 1]!.group !== node.group) y += GAP;
    const placed = sized(look, node, x, y, width);
    y += placed.height + GAP;
    return placed;
  });
}

/** Layers below each other, each in as many columns as names have room for. */
export function inRows(look: Look, { names, columns }: Layers, from: number): Places {
  const { margin, scheme } = look;
  const room = roomOf(look);
  const inRow = Math.max(1, Math.floor((room + GAP) / (NODE.stacked + GAP)));
  const wide = (room - (inRow - 1) * GAP) / inRow;
  const titles: Mark[] = [];
  let y = from + 30;
  const nodes = columns.flatMap((column, layer) => {
    titles.push(label(look, margin, y - 12, names[layer]!, { fill: scheme.text2, halo: scheme.panel }));
    const ends = Array.from({ length: inRow }, () => y);
    const placed = column.map((node) => {
      const at = ends.indexOf(Math.min(...ends));
      const box = sized(look, node, margin + at * (wide + GAP), ends[at]!, wide);
      ends[at] = box.y + box.height + GAP;
      return box;
    });
    y = Math.max(...ends) + BELOW - GAP;
    return placed;
  });
  return { nodes, titles, bottom: y - BELOW };
}
