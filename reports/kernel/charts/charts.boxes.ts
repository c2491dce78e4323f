import { MOST_GROUPS } from './charts.grouping.ts';
import { decapitalised } from './charts.labels.ts';
import { fillOf, isNarrow } from './charts.look.ts';
import { type Look, type Mark, moved, type Picture, standingFor } from './charts.marks.ts';
import { formatCount, numberWriter, tickWriter } from './charts.numbers.ts';
import { heading, LABEL, type LegendEntry, labelAt, nothing, withNote } from './charts.parts.ts';
import { chartText } from './charts.texts.ts';
import { type BoxFrame, type Drawn, scaleSteps, stepOf, tile, writtenValue } from './charts.tiles.ts';
import { radius, type, weight } from './charts.tokens.ts';
import {
  countTo,
  meanOfItems,
  type Node,
  ownItems,
  paintKey,
  restOf,
  sumOfItems,
  treesOf,
} from './charts.tree.ts';
import type { BoxesChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

/** Maximum number of boxes; of more, lower levels are folded. */
const MOST = 300;
/** Maximum number of levels. */
const LEVELS = 3;
const GAP = 12;
const PAD = 10;
const INNER = 6;
/** Minimum width of a box of the first level, and of a tile. */
const LEAST = { root: 340, tile: 150 };
const HEADER = { root: 34, inner: 28 };

/** Boxes in boxes by level, in columns. */
export function layoutBoxes(chart: BoxesChart, look: Look): Picture {
  const { width, margin } = look;
  const roots = treesOf(chart);
  const most = Math.min(MOST, chart.most ?? MOST);
  const groups = Math.min(MOST_GROUPS, most);
  const levels = levelsFor(roots, most);
  const [last, own] = [true, false].map((isLast) =>
    roots.filter(({ box }) => (box.isLast ?? false) === isLast),
  ) as [Node[], Node[]];
  const all = levels === 1 ? own.toSorted(bySize) : own;
  const shown = all.slice(0, groups);
  const hidden = all.slice(groups);
  const rest = hidden.length > 0 ? [restOf(hidden, look.workspace, chart)] : [];
  const hasItems = roots.some(({ items }) => items.size > 0);
  const values = valuesOf(roots);
  const frame: BoxFrame = {
    look,
    chart,
    steps: scaleSteps(chart, [...shown, ...last], levels),
    write: numberWriter(values, chart.scale?.unit ?? 'number', look.workspace),
    isBlank: chart.scale !== undefined && values.every((value) => !value),
    marksGaps: chart.gaps === true && hasItems,
  };
  const note = withNote(chart.note, noteOf(frame, roots, [shown, hidden], levels, hasItems));
  const head = heading(look, { title: chart.title, note }, legendOf(frame, roots));
  const description = chartText(look.workspace, 'boxes.description', {
    boxes: chart.boxes.length,
    areas: roots.length,
  });
  if (roots.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  }
  const room = width - 2 * margin;
  const isFlat = [...shown, ...last].every(({ children }) => levels === 1 || children.length === 0);
  const least = isFlat ? LEAST.tile + 40 : isNarrow(look) ? 250 : LEAST.root;
  const columns = Math.max(1, Math.min(shown.length + last.length, Math.floor((room + GAP) / (least + GAP))));
  const column = (room - (columns - 1) * GAP) / columns;
  const bottoms = Array.from({ length: columns }, () => head.bottom + 4);
  const marks: Mark[] = [];
  if (isFlat) {
    const rows = gridOf(frame, [...shown, ...rest, ...last], room, columns, levels === 1);
    marks.push(...rows.marks.map((mark) => moved(mark, margin, bottoms[0]!)));
    bottoms[0]! += rows.height;
  } else {
    for (const root of [...shown, ...last]) {
      const at = bottoms.indexOf(Math.min(...bottoms));
      const box = boxOf(frame, root, column, 1, levels);
      marks.push(...box.marks.map((mark) => moved(mark, margin + at * (column + GAP), bottoms[at]!)));
      bottoms[at]! += box.height + GAP;
    }
  }
  return {
    width,
    height: Math.max(...bottoms) + margin - GAP + 4,
    marks: [...head.marks, ...marks],
    description,
  };
}

const valuesOf = (nodes: Node[]): (number | undefined)[] =>
  nodes.flatMap(({ value, children }) => [value, ...valuesOf(children)]);

/** How many levels fit; the first one always does. */
function levelsFor(roots: Node[], most: number): number {
  if (roots.length > MOST_GROUPS) return 1;
  for (let levels = LEVELS; levels > 1; levels -= 1) if (countTo(roots, levels) <= most) return levels;
  return 1;
}

/** The largest first. */
const bySize = (a: Node, b: Node): number =>
  b.items.size - a.items.size || (b.value ?? 0) - (a.value ?? 0) || b.below - a.below;

function noteOf(
  { look: { workspace }, chart, isBlank }: BoxFrame,
  roots: Node[],
  [shown, hidden]: [Node[], Node[]],
  levels: number,
  hasItems: boolean,
): string | undefined {
  const depth = levels === LEVELS && countTo(roots, LEVELS + 1) === countTo(roots, LEVELS);
  const folded =
    depth || chart.boxes.length === countTo(roots, levels)
      ? undefined
      : levels === 1
        ? chartText(workspace, 'boxes.firstLevel')
        : chartText(workspace, 'boxes.levels', { levels });
  const empty =
    chart.gaps && !hasItems
      ? chartText(workspace, 'boxes.noneHas', {
          one: chart.member[0],
          article: /^[aeiou]/i.test(chart.member[0]) ? 'an' : 'a',
        })
      : undefined;
  const counts = { shown: shown.length, total: shown.length + hidden.length };
  const isRanked = hidden.length > 0 && bySize(shown[0]!, hidden.at(-1)!) !== 0;
  const left =
    hidden.length > 0 ? chartText(workspace, isRanked ? 'boxes.largest' : 'omitted', counts) : undefined;
  const shade =
    chart.scale &&
    (isBlank
      ? chartText(workspace, 'boxes.noValues', { name: decapitalised(chart.scale.name, workspace) })
      : chartText(workspace, 'boxes.shade', { name: chart.scale.name }));
  return [shade, isBlank ? undefined : empty, folded, left].reduce(withNote, undefined);
}

function legendOf(frame: BoxFrame, roots: Node[]): LegendEntry[] {
  const { chart, look, steps, marksGaps } = frame;
  const gaps = roots.reduce((sum, node) => sum + node.gaps, 0);
  const gap: LegendEntry[] =
    marksGaps && gaps > 0
      ? [
          {
            name: chartText(look.workspace, 'boxes.none', { name: chart.member[0] }),
            paint: 'none',
            extra: formatCount(gaps, look.workspace),
          },
        ]
      : [];
  if (chart.scale && steps) {
    const write = tickWriter(steps.limits, chart.scale.unit, look.workspace);
    if (frame.isBlank) return [];
    const zero: LegendEntry[] = steps.hasZero ? [{ name: write(0), paint: 'none', shape: 'empty' }] : [];
    return [
      ...zero,
      ...steps.limits.slice(1).map((limit, at): LegendEntry => {
        const from = chart.scale!.unit === 'count' ? steps.limits[at]! + 1 : steps.limits[at]!;
        return {
          name: from === limit ? write(limit) : `${write(from)} – ${write(limit)}`,
          paint: { step: stepOf(at, steps.limits.length - 1) },
        };
      }),
    ];
  }
  const isSpread = roots.some(({ spread }) => spread.size > 0);
  const counts = isSpread ? sumMaps(roots.map(({ spread }) => spread)) : itemCounts(roots);
  const entries = (chart.legend ?? []).flatMap(({ name, paint }): LegendEntry[] => {
    const count = counts.get(paintKey(paint)) ?? 0;
    return count > 0
      ? [{ name, paint, extra: formatCount(count, look.workspace), shape: isSpread ? 'square' : 'dot' }]
      : [];
  });
  return [...entries, ...gap];
}

function sumMaps(maps: ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const map of maps) for (const [key, count] of map) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}

/** Distinct items by paint. */
function itemCounts(roots: Node[]): Map<string, number> {
  const all = new Map(roots.flatMap(({ items }) => [...items]));
  const counts = new Map<string, number>();
  for (const { paint } of all.values()) {
    if (paint !== undefined) counts.set(paintKey(paint), (counts.get(paintKey(paint)) ?? 0) + 1);
  }
  return counts;
}

/** A box with its header and content, from (0, 0) on. */
function boxOf(frame: BoxFrame, node: Node, width: number, level: number, levels: number): Drawn {
  const { look } = frame;
  const { scheme } = look;
  if (level >= levels || node.children.length === 0) {
    const one = tile(frame, node, width, level >= levels);
    return { ...one, marks: standingFor(refOf(node), one.marks) };
  }
  const isRoot = level === 1;
  const pad = isRoot ? PAD : INNER;
  const header = isRoot ? HEADER.root : HEADER.inner;
  const marks: Mark[] = [];
  let y = header;
  const inner = width - 2 * pad;
  const branches = level + 1 < levels ? node.children.filter(({ children }) => children.length > 0) : [];
  for (const child of branches) {
    const box = boxOf(frame, child, inner, level + 1, levels);
    marks.push(...box.marks.map((mark) => moved(mark, pad, y)));
    y += box.height + INNER;
  }
  const leaves = node.children.filter((child) => !branches.includes(child));
  const columns = Math.max(1, Math.floor((inner + INNER) / (LEAST.tile - 20 + INNER)));
  const own = frame.chart.member[0] === '' ? [] : ownOf(node, frame);
  const grid = gridOf(
    frame,
    [...own, ...leaves],
    inner,
    Math.min(columns, isNarrow(look) ? 2 : 3),
    level + 1 >= levels,
  );
  marks.push(...grid.marks.map((mark) => moved(mark, pad, y)));
  y += grid.height + pad - INNER;
  const ground: Mark = {
    kind: 'rect',
    x: 0,
    y: 0,
    width,
    height: y,
    radius: isRoot ? radius.panel : radius.control,
    fill: isRoot ? scheme.panel : scheme.canvas,
    stroke: isRoot ? scheme.hairlineStrong : scheme.hairline,
  };
  return { marks: [ground, ...headerOf(frame, node, width, pad, header, isRoot), ...marks], height: y };
}

/** What a parent has itself, as one of its leaves. */
function ownOf(node: Node, { chart: { rolledUp, mean }, look }: BoxFrame): Node[] {
  const own = ownItems(node, rolledUp);
  if (own.size === 0) return [];
  const items = [...own.values()];
  const name = chartText(look.workspace, 'boxes.itself', { name: node.box.name });
  return [
    {
      ...node,
      children: [],
      below: 0,
      gaps: 0,
      value: mean ? meanOfItems(items) : rolledUp ? sumOfItems(items) : node.box.value,
      items: own,
      // the first of rolled up ones decides, as it does for the box
      box: { ...node.box, name, items, ...(rolledUp && node.box.paint && { paint: items[0]!.paint }) },
    },
  ];
}

/** The card of a box; several together have none. */
const refOf = ({ isRest, box }: Node): string | undefined => (isRest ? undefined : box.id);

/** Tiles in rows of equal height. */
function gridOf(frame: BoxFrame, nodes: Node[], width: number, columns: number, folded: boolean): Drawn {
  const count = Math.max(1, Math.min(columns, nodes.length));
  const wide = (width - (columns - 1) * INNER) / columns;
  const marks: Mark[] = [];
  let y = 0;
  for (let at = 0; at < nodes.length; at += count) {
    const row = nodes.slice(at, at + count);
    const first = row.map((node) => tile(frame, node, wide, folded));
    const height = Math.max(...first.map((one) => one.height));
    for (const [index, node] of row.entries()) {
      const drawn = standingFor(refOf(node), tile(frame, node, wide, folded, height).marks);
      marks.push(...drawn.map((mark) => moved(mark, index * (wide + INNER), y)));
    }
    y += height + INNER;
  }
  return { marks, height: y };
}

/** Name, spread of the subtree, gaps and count. */
function headerOf(
  frame: BoxFrame,
  node: Node,
  width: number,
  pad: number,
  height: number,
  isRoot: boolean,
): Mark[] {
  const { look, chart, marksGaps } = frame;
  const { scheme } = look;
  const size = isRoot ? type.panel.size : LABEL;
  const y = height / 2 + (isRoot ? 1 : 0);
  const marks: Mark[] = [];
  let right = width - pad;
  const figure = chart.scale
    ? writtenValue(frame, node.value)
    : node.items.size > 0
      ? formatCount(node.items.size, look.workspace)
      : '';
  marks.push(labelAt(look, right, y, figure, { anchor: 'end', fill: scheme.text2 }));
  if (figure) right -= textWidth(figure, LABEL) + 6;
  const spread = [...node.spread].filter(([, count]) => count > 0);
  const order = (chart.legend ?? []).map(({ paint }) => paintKey(paint));
  const total = spread.reduce((sum, [, count]) => sum + count, 0);
  if (total > 0 && width > 190) {
    const bar = isRoot ? 60 : 46;
    let x = right - bar;
    for (const [key, count] of spread.toSorted(([a], [b]) => order.indexOf(b) - order.indexOf(a))) {
      const part = (count / total) * bar;
      marks.push({
        kind: 'rect',
        x,
        y: y - 3,
        width: Math.max(1, part - 1),
        height: 6,
        radius: 1,
        fill: fillOf(JSON.parse(key), look),
      });
      x += part;
    }
    right -= bar + 8;
  }
  if (marksGaps && node.gaps > 0) {
    const text = chartText(look.workspace, 'boxes.gaps', { count: node.gaps });
    const wide = textWidth(text, 11) + 12;
    if (right - wide > pad + 80) {
      marks.push({
        kind: 'rect',
        x: right - wide,
        y: y - 9,
        width: wide,
        height: 18,
        radius: 9,
        fill: scheme.tones.warn.tint,
      });
      marks.push(
        labelAt(look, right - wide / 2, y, text, { anchor: 'middle', size: 11, fill: scheme.tones.warn.ink }),
      );
      right -= wide + 8;
    }
  }
  marks.push(
    labelAt(look, pad + 2, y, node.box.name, {
      size,
      weight: isRoot ? weight.title : weight.emphasis,
      room: right - pad - 6,
    }),
  );
  return marks;
}
