import { typeColours } from './charts.colours.ts';
import { bundleNote, type LayerEdge, type LayerNode, layersOf } from './charts.layers.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, type Mark, type Picture, px } from './charts.marks.ts';
import { counted, formatCount } from './charts.numbers.ts';
import { heading, LABEL, type LegendEntry, label, nothing, withNote } from './charts.parts.ts';
import { plain, wrap } from './charts.text.ts';
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
    return count > 0 ? [{ name, paint: same[0]!.paint, extra: formatCount(count) }] : [];
  });
  const note = [
    chart.note,
    chart.nodes.length < all
      ? `The ${formatCount(chart.nodes.length)} most related of ${formatCount(all)}`
      : undefined,
    bundled > 0 ? 'More than 12 of a kind are one box' : undefined,
  ].reduce(withNote, undefined);
  const head = heading(look, { title: chart.title, note }, legend.length > 1 ? legend : []);
  const description = `${counted(chart.nodes.length, 'card')} in ${counted(columns.length, 'layer')}, joined by ${counted(chart.edges.length, 'relation')}.`;
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
  const placed = columns.map((column, at) => columnOf(column, margin + at * step, wide));
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
  return {
    width,
    height: top + height + margin,
    marks: [
      ...head.marks,
      ...titles,
      ...lines.flatMap((edge) => edgeMarks(look, edge, byId, isAt(edge, centre), between)),
      ...nodes.flatMap((node) => nodeMarks(look, node)),
    ],
    description,
  };
}

const isAt = ({ source, target }: LayerEdge, id: string | undefined): boolean =>
  id !== undefined && (source === id || target === id);

/** How a name fits in a box. */
const roomIn = (width: number) => (width < SMALL.below ? SMALL : { pad: NODE.pad, size: LABEL, lines: 2 });

/** The nodes of a layer from top to bottom, from 0 on. */
function columnOf(column: LayerNode[], x: number, width: number): Placed[] {
  let y = 0;
  return column.map((node, at) => {
    if (at > 0 && column[at - 1]!.group !== node.group) y += GAP;
    const { pad, size, lines: most } = roomIn(width);
    const lines = wrap(plain(node.name), width - 2 * pad - EDGE, size, most, weight.emphasis);
    const listed = node.names ? node.names.length + (bundleNote(node) ? 1 : 0) : 0;
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
  const title = names ? `${node.group}: ${counted(count, 'card')}` : `${node.name}, ${node.group}`;
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
    const words = names && at === 0 ? `${formatCount(count)} × ${text}` : text;
    const mark = label(look, left, y + 18 + at * LINE, words, { size, weight: weight.emphasis, fill, room });
    marks.push(at === lines.length - 1 && !whole.endsWith(text) ? { ...mark, whole } : mark);
  }
  for (const [at, name] of (names ?? []).entries()) {
    marks.push(
      label(look, left, y + 18 + (lines.length + at) * LINE, name, { size: 11, fill: scheme.text2, room }),
    );
  }
  const rest = names ? bundleNote(node) : '';
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

/** A curve between the facing sides; within a layer beside it. */
function edgeMarks(
  look: Look,
  { source, target, count, toTarget, toSource }: LayerEdge,
  nodes: Map<string, Placed>,
  isStrong: boolean,
  between: number,
): Mark[] {
  const { scheme } = look;
  const [from, to] = [nodes.get(source)!, nodes.get(target)!];
  const stroke = isStrong ? scheme.border : scheme.hairlineStrong;
  const width = Math.min(4, 1 + Math.log2(count) * 0.6);
  const middleOf = ({ y, height }: Placed) => y + height / 2;
  const title = `${from.name} – ${to.name}${count > 1 ? `: ${formatCount(count)}` : ''}`;
  if (from.x === to.x) {
    const x = from.x + from.width;
    const bend = Math.min(between * 0.8, 14 + Math.abs(middleOf(from) - middleOf(to)) / 12);
    const [y1, y2] = [middleOf(from), middleOf(to)];
    const d = `M${px(x)} ${px(y1)}C${px(x + bend)} ${px(y1)} ${px(x + bend)} ${px(y2)} ${px(x)} ${px(y2)}`;
    return [
      { kind: 'path', d, stroke, width, title },
      ...(toTarget ? [arrow(x, y2, -1, stroke)] : []),
      ...(toSource ? [arrow(x, y1, -1, stroke)] : []),
    ];
  }
  const isRight = from.x < to.x;
  const [x1, x2] = isRight ? [from.x + from.width, to.x] : [from.x, to.x + to.width];
  const [y1, y2] = [middleOf(from), middleOf(to)];
  const bend = (x2 - x1) / 2;
  const d = `M${px(x1)} ${px(y1)}C${px(x1 + bend)} ${px(y1)} ${px(x2 - bend)} ${px(y2)} ${px(x2)} ${px(y2)}`;
  return [
    { kind: 'path', d, stroke, width, title },
    ...(toTarget ? [arrow(x2, y2, isRight ? 1 : -1, stroke)] : []),
    ...(toSource ? [arrow(x1, y1, isRight ? -1 : 1, stroke)] : []),
  ];
}

const arrow = (x: number, y: number, towards: 1 | -1, fill: string): Mark => ({
  kind: 'path',
  d: `M${px(x)} ${px(y)}L${px(x - 7 * towards)} ${px(y - 3.5)}L${px(x - 7 * towards)} ${px(y + 3.5)}Z`,
  fill,
});
