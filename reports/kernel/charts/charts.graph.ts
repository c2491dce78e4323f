import { typeColours } from './charts.colours.ts';
import { bundleNote, type LayerEdge, type LayerNode, layersOf } from './charts.layers.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, type Mark, type Picture, px, standingFor } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { heading, LABEL, type LegendEntry, label, nothing, withNote } from './charts.parts.ts';
import { plain, wrap } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { radius, weight } from './charts.tokens.ts';
import type { GraphChart, Paint } from './charts.types.ts';

const GAP = 8;
const LINE = 15;
/** Space between columns for lines. */
const BETWEEN = { wide: 76, narrow: 22 };
const NODE = { most: 230, pad: 9 };
/** In little room: less padding, smaller text, a line more. */
const SMALL = { below: 130, pad: 5, size: 11, lines: 3 };
const EDGE = 3;

interface Placed extends LayerNode {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
}

/** Boxes in layers from left to right, joined by lines; many nodes of one group are one box. */
export function layoutGraph(chart: GraphChart, look: Look): Picture {
  const { width, margin, scheme } = look;
  const { names, columns, edges, bundled } = layersOf(chart);
  const all = chart.total ?? chart.nodes.length;
  const counts = new Map<string, number>();
  for (const { group } of chart.nodes) counts.set(group, (counts.get(group) ?? 0) + 1);
  // groups of one name differ by their layer only
  const legend = [...Map.groupBy(chart.groups, ({ name }) => name)].flatMap(([name, same]): LegendEntry[] => {
    const count = same.reduce((sum, { key }) => sum + (counts.get(key) ?? 0), 0);
    return count > 0 ? [{ name, paint: same[0]!.paint, extra: formatCount(count, look.workspace) }] : [];
  });
  const note = [
    chart.note,
    chart.nodes.length < all
      ? chartText(look.workspace, 'graph.most', { shown: chart.nodes.length, total: all })
      : undefined,
    bundled > 0 ? chartText(look.workspace, 'graph.bundled') : undefined,
  ].reduce(withNote, undefined);
  const head = heading(look, { title: chart.title, note }, legend.length > 1 ? legend : []);
  const description = chartText(look.workspace, 'graph.description', {
    cards: chart.nodes.length,
    layers: columns.length,
    relations: chart.edges.length,
  });
  if (chart.nodes.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom)],
      description,
    };
  }
  const between = isNarrow(look) ? BETWEEN.narrow : BETWEEN.wide;
  const room = width - 2 * margin;
  const wide = Math.min(NODE.most, (room - (columns.length - 1) * between) / columns.length);
  const step = columns.length > 1 ? (room - wide) / (columns.length - 1) : 0;
  const top = head.bottom + 30;
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
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const centre = nodes.find(({ isCentre }) => isCentre)?.id;
  const titles = names.map((name, at) =>
    at > 0 && at === names.length - 1
      ? label(look, width - margin, top - 12, name, { fill: scheme.text2, anchor: 'end', room: step - 8 })
      : label(look, margin + at * step, top - 12, name, {
          fill: scheme.text2,
          room: at === names.length - 2 ? Math.min(wide, step - 8) : Math.max(wide, step - 8),
        }),
  );
  // the lines of the centre lie above the others
  const lines = edges.toSorted((a, b) => Number(isAt(a, centre)) - Number(isAt(b, centre)));
  const drawn = lines.map((edge) => edgeMarks(look, edge, byId, isAt(edge, centre), between));
  return {
    width,
    height: top + height + margin,
    marks: [
      ...head.marks,
      ...titles,
      ...drawn.map(({ line }) => line),
      ...drawn.flatMap(({ arrows }) => arrows),
      ...nodes.flatMap((node) => standingFor(node.names ? undefined : node.id, nodeMarks(look, node))),
    ],
    description,
  };
}

const isAt = ({ source, target }: LayerEdge, id: string | undefined): boolean =>
  id !== undefined && (source === id || target === id);

/** How a name fits in a box. */
const roomIn = (width: number) => (width < SMALL.below ? SMALL : { pad: NODE.pad, size: LABEL, lines: 2 });

/** The nodes of a layer from top to bottom, from 0 on. */
function columnOf(look: Look, column: LayerNode[], x: number, width: number): Placed[] {
  let y = 0;
  return column.map((node, at) => {
    if (at > 0 && column[at - 1]!.group !== node.group) y += GAP;
    const { pad, size, lines: most } = roomIn(width);
    const lines = wrap(plain(node.name), width - 2 * pad - EDGE, size, most, weight.emphasis, look.workspace);
    const listed = node.names ? node.names.length + (node.count > node.names.length ? 1 : 0) : 0;
    const height = lines.length * LINE + listed * LINE + 13;
    const placed = { ...node, x, y, width, height, lines };
    y += height + GAP;
    return placed;
  });
}

function nodeMarks(look: Look, node: Placed): Mark[] {
  const { scheme } = look;
  const { x, y, width, height, lines, names, isCentre, count } = node;
  const stored = storedColour(node.paint);
  const { tint, ink } =
    stored === undefined
      ? { tint: scheme.canvas, ink: fillOf(node.paint, look) }
      : typeColours(stored, scheme);
  const title = names
    ? `${node.group}: ${chartText(look.workspace, 'cards.count', { count })}`
    : `${node.name}, ${node.group}`;
  const { pad, size } = roomIn(width);
  const left = x + pad + EDGE;
  const room = width - 2 * pad - EDGE;
  const marks: Mark[] = [];
  if (names) {
    for (const by of [6, 3])
      marks.push({
        kind: 'rect',
        x: x + by,
        y: y + by,
        width,
        height,
        radius: radius.control,
        fill: scheme.panel,
        stroke: scheme.hairlineStrong,
      });
  }
  marks.push(
    {
      kind: 'rect',
      x,
      y,
      width,
      height,
      radius: radius.control,
      fill: isCentre ? ink : tint,
      stroke: isCentre ? ink : scheme.hairlineStrong,
      title,
    },
    { kind: 'rect', x: x + 1, y: y + 5, width: EDGE, height: height - 10, radius: 1, fill: ink },
  );
  const fill = isCentre ? scheme.panel : scheme.text;
  const whole = plain(node.name);
  for (const [at, text] of lines.entries()) {
    const words = names && at === 0 ? `${formatCount(count, look.workspace)} × ${text}` : text;
    const mark = label(look, left, y + 18 + at * LINE, words, { size, weight: weight.emphasis, fill, room });
    marks.push(at === lines.length - 1 && !whole.endsWith(text) ? { ...mark, whole } : mark);
  }
  for (const [at, name] of (names ?? []).entries()) {
    marks.push(
      label(look, left, y + 18 + (lines.length + at) * LINE, name, { size: 11, fill: scheme.text2, room }),
    );
  }
  const rest = names ? bundleNote(node, look.workspace) : '';
  if (rest)
    marks.push(
      label(look, left, y + 18 + (lines.length + names!.length) * LINE, rest, {
        size: 11,
        fill: scheme.text3,
        room,
      }),
    );
  return marks;
}

const storedColour = (paint: Paint): string | undefined =>
  typeof paint === 'object' && 'type' in paint
    ? paint.type
    : typeof paint === 'object' && 'option' in paint
      ? paint.option
      : undefined;

type Point = [x: number, y: number];

/** A curve between the facing sides, within a layer beside it, with arrows to where data flows. */
function edgeMarks(
  look: Look,
  { source, target, count, toTarget, toSource }: LayerEdge,
  nodes: Map<string, Placed>,
  isStrong: boolean,
  between: number,
): { line: Mark; arrows: Mark[] } {
  const { scheme } = look;
  const [from, to] = [nodes.get(source)!, nodes.get(target)!];
  const stroke = isStrong ? scheme.border : scheme.hairlineStrong;
  const width = Math.min(4, 1 + Math.log2(count) * 0.6);
  const middleOf = ({ y, height }: Placed) => y + height / 2;
  const title = `${from.name} – ${to.name}${count > 1 ? `: ${formatCount(count, look.workspace)}` : ''}`;
  const [y1, y2] = [middleOf(from), middleOf(to)];
  const right = ({ x, width: wide }: Placed) => x + wide;
  const [x1, x2] =
    from.x === to.x ? [right(from), right(to)] : from.x < to.x ? [right(from), to.x] : [from.x, right(to)];
  const bend = from.x === to.x ? Math.min(between * 0.8, 14 + Math.abs(y1 - y2) / 12) : (x2 - x1) / 2;
  const curve: Curve = [
    [x1, y1],
    [x1 + bend, y1],
    [from.x === to.x ? x2 + bend : x2 - bend, y2],
    [x2, y2],
  ];
  const [start, ...others] = curve.map(([x, y]) => `${px(x)} ${px(y)}`);
  return {
    line: { kind: 'path', d: `M${start}C${others.join(' ')}`, stroke, width, title },
    arrows: [
      ...(toTarget ? [arrow(curve, 0.8, 1, stroke)] : []),
      ...(toSource ? [arrow(curve, 0.2, -1, stroke)] : []),
    ],
  };
}

/** The ends of a cubic curve with its two control points between them. */
type Curve = [Point, Point, Point, Point];

/** An arrow on a curve, some way from its end, where lines meet. @param towards its end, or -1 its beginning. */
function arrow(curve: Curve, at: number, towards: 1 | -1, fill: string): Mark {
  const rest = 1 - at;
  const along = (axis: 0 | 1) => {
    const [a, b, c, d] = curve.map((point) => point[axis]) as [number, number, number, number];
    return {
      place: rest ** 3 * a + 3 * rest ** 2 * at * b + 3 * rest * at ** 2 * c + at ** 3 * d,
      slope: rest ** 2 * (b - a) + 2 * rest * at * (c - b) + at ** 2 * (d - c),
    };
  };
  const [x, y] = [along(0), along(1)];
  const length = Math.hypot(x.slope, y.slope) || 1;
  const [dx, dy] = [(towards * x.slope) / length, (towards * y.slope) / length];
  const corner = (ahead: number, aside: number) =>
    `${px(x.place + ahead * dx - aside * dy)} ${px(y.place + ahead * dy + aside * dx)}`;
  return { kind: 'path', d: `M${corner(5, 0)}L${corner(-4, -4.5)}L${corner(-4, 4.5)}Z`, fill };
}
