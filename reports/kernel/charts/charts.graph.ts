import { typeColours } from './charts.colours.ts';
import {
  areStacked,
  between,
  EDGE,
  inColumns,
  inRows,
  LINE,
  type Placed,
  roomIn,
} from './charts.graph-places.ts';
import { bundleNote, type LayerEdge, layersOf } from './charts.layers.ts';
import { fillOf } from './charts.look.ts';
import { type Look, type Mark, type Picture, px, standingFor } from './charts.marks.ts';
import { formatCount } from './charts.numbers.ts';
import { heading, type LegendEntry, label, nothing, withNote } from './charts.parts.ts';
import { plain } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { radius, weight } from './charts.tokens.ts';
import type { GraphChart, Paint } from './charts.types.ts';

/** Number of nodes of a group above which they are bundled: beside each other, and below each other. */
const BUNDLED = { columns: 12, rows: 4 };

/**
 * Boxes in layers, joined by lines: from left to right, in little room from top to bottom. Many nodes of one group are one box.
 */
export function layoutGraph(chart: GraphChart, look: Look): Picture {
  const { width, margin } = look;
  const isStacked = areStacked(look, layersOf(chart, BUNDLED.columns).columns.length);
  const most = isStacked ? BUNDLED.rows : BUNDLED.columns;
  const layers = layersOf(chart, most);
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
    layers.bundled > 0 ? chartText(look.workspace, 'graph.bundled', { most }) : undefined,
  ].reduce(withNote, undefined);
  const head = heading(look, { title: chart.title, note }, legend.length > 1 ? legend : []);
  const description = chartText(look.workspace, 'graph.description', {
    cards: chart.nodes.length,
    layers: layers.columns.length,
    relations: chart.edges.length,
  });
  if (chart.nodes.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  }
  const { nodes, titles, bottom } = isStacked
    ? inRows(look, layers, head.bottom)
    : inColumns(look, layers, head.bottom);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const centre = nodes.find(({ isCentre }) => isCentre)?.id;
  // the lines of the centre lie above the others
  const lines = layers.edges.toSorted((a, b) => Number(isAt(a, centre)) - Number(isAt(b, centre)));
  const drawn = lines.map((edge) => edgeMarks(look, edge, byId, isAt(edge, centre), isStacked));
  return {
    width,
    height: bottom + margin,
    marks: [
      ...head.marks,
      ...drawn.map(({ line }) => line),
      ...drawn.flatMap(({ arrows }) => arrows),
      ...titles,
      ...nodes.flatMap((node) => standingFor(node.names ? undefined : node.id, nodeMarks(look, node))),
    ],
    description,
  };
}

const isAt = ({ source, target }: LayerEdge, id: string | undefined): boolean =>
  id !== undefined && (source === id || target === id);

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
    const mark = label(look, left, y + 18 + at * LINE, text, { size, weight: weight.emphasis, fill, room });
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

/** A curve between two boxes, with arrows to where data flows. */
function edgeMarks(
  look: Look,
  { source, target, count, toTarget, toSource }: LayerEdge,
  nodes: Map<string, Placed>,
  isStrong: boolean,
  isStacked: boolean,
): { line: Mark; arrows: Mark[] } {
  const { scheme } = look;
  const [from, to] = [nodes.get(source)!, nodes.get(target)!];
  const stroke = isStrong ? scheme.border : scheme.hairlineStrong;
  const width = Math.min(4, 1 + Math.log2(count) * 0.6);
  const title = `${from.name} – ${to.name}${count > 1 ? `: ${formatCount(count, look.workspace)}` : ''}`;
  const curve = isStacked ? downwards(from, to) : sideways(from, to, look);
  const [start, ...others] = curve.map(([x, y]) => `${px(x)} ${px(y)}`);
  return {
    line: { kind: 'path', d: `M${start}C${others.join(' ')}`, stroke, width, title },
    arrows: [
      ...(toTarget ? [arrow(curve, 0.8, 1, stroke)] : []),
      ...(toSource ? [arrow(curve, 0.2, -1, stroke)] : []),
    ],
  };
}

/** Between the facing sides; within a layer beside it, where there is room. */
function sideways(from: Placed, to: Placed, look: Look): Curve {
  const [y1, y2] = [from, to].map(({ y, height }) => y + height / 2) as [number, number];
  const right = ({ x, width }: Placed) => x + width;
  if (from.x === to.x) {
    const bend = Math.min(between(look) * 0.8, 14 + Math.abs(y1 - y2) / 12);
    const isAtEdge = right(from) + bend > look.width - look.margin;
    const [x, aside] = isAtEdge ? [from.x, -bend] : [right(from), bend];
    return [
      [x, y1],
      [x + aside, y1],
      [x + aside, y2],
      [x, y2],
    ];
  }
  const [x1, x2] = from.x < to.x ? [right(from), to.x] : [from.x, right(to)];
  const middle = (x1 + x2) / 2;
  return [
    [x1, y1],
    [middle, y1],
    [middle, y2],
    [x2, y2],
  ];
}

/** From the bottom of the upper box to the top of the lower one; within a row between the facing sides. */
function downwards(from: Placed, to: Placed): Curve {
  if (from.y === to.y) {
    const [x1, x2] = from.x < to.x ? [from.x + from.width, to.x] : [from.x, to.x + to.width];
    const y = from.y + from.height / 2;
    return [
      [x1, y],
      [x1, y],
      [x2, y],
      [x2, y],
    ];
  }
  const [x1, x2] = [from, to].map(({ x, width }) => x + width / 2) as [number, number];
  const [y1, y2] = from.y < to.y ? [from.y + from.height, to.y] : [from.y, to.y + to.height];
  const middle = (y1 + y2) / 2;
  return [
    [x1, y1],
    [x1, middle],
    [x2, middle],
    [x2, y2],
  ];
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
