import { chartText, type InLanguage } from './charts.texts.ts';
import type { Box, BoxesChart, BoxItem, Paint } from './charts.types.ts';

/** A box with what its subtree has. */
export interface Node {
  box: Box;
  children: Node[];
  /** Distinct items of the subtree. */
  items: Map<string, BoxItem>;
  /** Boxes below. */
  below: number;
  /** Leaves of the subtree without items. */
  gaps: number;
  /** Leaves of the subtree by paint, as keys. */
  spread: Map<string, number>;
  /** The value of the subtree; undefined if it has none. */
  value: number | undefined;
  /** Whether it stands for others together. */
  isRest?: boolean;
}

export const paintKey = (paint: Paint): string => JSON.stringify(paint);

/** The boxes as trees, with what each subtree has; a parent that is missing makes a root, and loops are cut. */
export function treesOf({ boxes, legend, rolledUp, mean }: BoxesChart): Node[] {
  const nodes = new Map(
    boxes.map((box): [string, Node] => [
      box.id,
      { box, children: [], items: new Map(), below: 0, gaps: 0, spread: new Map(), value: undefined },
    ]),
  );
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.box.parent_id ?? '');
    if (parent && parent !== node) parent.children.push(node);
    else roots.push(node);
  }
  const rank = new Map((legend ?? []).map(({ paint }, at) => [paintKey(paint), at]));
  const seen = new Set<Node>();
  const roll = (node: Node): void => {
    seen.add(node);
    const { box } = node;
    node.items = itemsOf(box.items);
    node.value = box.value;
    for (const child of node.children) {
      if (seen.has(child)) continue;
      roll(child);
      node.below += child.below + 1;
      node.gaps += child.gaps;
      addTo(node, child);
    }
    if (rolledUp) node.value = box.value;
    if (mean) node.value = meanOfItems(node.items.values());
    if (node.children.length === 0 && node.items.size === 0) node.gaps += 1;
    const paint = node.children.length === 0 ? box.paint : box.paint && ownPaint(node, rolledUp);
    if (paint !== undefined) {
      const key = paintKey(paint);
      if (rank.size === 0 || rank.has(key)) node.spread.set(key, (node.spread.get(key) ?? 0) + 1);
    }
  };
  for (const root of roots) roll(root);
  return roots;
}

/** The items of a parent itself; what is rolled up stands in the boxes below only. */
export function ownItems({ box, children }: Node, rolledUp: boolean | undefined): Map<string, BoxItem> {
  const own = [...itemsOf(box.items)];
  return new Map(rolledUp ? own.filter(([key]) => !children.some(({ items }) => items.has(key))) : own);
}

/** The paint of a parent's own items; undefined without any. Of rolled up ones the first decides, as it does for the box. */
function ownPaint(node: Node, rolledUp: boolean | undefined): Paint | undefined {
  const [first] = ownItems(node, rolledUp).values();
  return first && (rolledUp ? first.paint : node.box.paint);
}

/** Items by what tells them apart. */
const itemsOf = (items: readonly BoxItem[] = []): Map<string, BoxItem> =>
  new Map(items.map((item) => [item.id ?? item.name, item]));

/** The sum of the values of items; undefined if none has one. */
export const sumOfItems = (items: readonly BoxItem[] = []): number | undefined =>
  items.reduce<number | undefined>(
    (sum, { value }) => (value === undefined ? sum : (sum ?? 0) + value),
    undefined,
  );

/** The weighted mean of the values of items; undefined if none has one with a weight. */
export function meanOfItems(items: Iterable<BoxItem>): number | undefined {
  let sum = 0;
  let weights = 0;
  for (const { value, weight = 1 } of items) {
    if (value === undefined) continue;
    sum += value * weight;
    weights += weight;
  }
  return weights > 0 ? sum / weights : undefined;
}

/** Adds what a subtree has; an item with a value counts once. */
function addTo(node: Node, { items, spread, value }: Node): void {
  let twice = 0;
  for (const [key, item] of items) {
    if (node.items.has(key)) twice += item.value ?? 0;
    else node.items.set(key, item);
  }
  for (const [key, count] of spread) node.spread.set(key, (node.spread.get(key) ?? 0) + count);
  if (value !== undefined) node.value = (node.value ?? 0) + value - twice;
}

/** Several trees as one. */
export function restOf(
  nodes: readonly Node[],
  language: InLanguage,
  { mean }: Pick<BoxesChart, 'mean'> = {},
): Node {
  const box = { id: '', name: chartText(language, 'boxes.others', { count: nodes.length }), parent_id: null };
  const rest: Node = {
    box,
    children: [],
    items: new Map(),
    below: 0,
    gaps: 0,
    spread: new Map(),
    value: undefined,
  };
  for (const node of nodes) {
    addTo(rest, node);
    rest.below += node.below;
    rest.gaps += node.gaps;
  }
  if (mean) rest.value = meanOfItems(rest.items.values());
  return { ...rest, isRest: true };
}

/** Number of boxes down to a level; 1 is that of the roots. */
export function countTo(nodes: readonly Node[], level: number): number {
  if (level === 0) return 0;
  return nodes.reduce((sum, { children }) => sum + 1 + countTo(children, level - 1), 0);
}
