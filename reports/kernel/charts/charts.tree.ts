import type { Box, BoxesChart, Paint } from './charts.types.ts';

/** A box with what its subtree has. */
export interface Node {
  box: Box;
  children: Node[];
  /** Distinct items of the subtree, by name. */
  items: Map<string, Paint | undefined>;
  /** Boxes below. */
  below: number;
  /** Leaves of the subtree without items. */
  gaps: number;
  /** Leaves of the subtree by paint, as keys. */
  spread: Map<string, number>;
  /** Sum of the values of the subtree; undefined if it has none. */
  value: number | undefined;
}

export const paintKey = (paint: Paint): string => JSON.stringify(paint);

/** The boxes as trees, with what each subtree has; a parent that is missing makes a root, and loops are cut. */
export function treesOf({ boxes, legend }: BoxesChart): Node[] {
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
    for (const { name, paint } of box.items ?? []) node.items.set(name, paint);
    node.value = box.value;
    for (const child of node.children) {
      if (seen.has(child)) continue;
      roll(child);
      node.below += child.below + 1;
      node.gaps += child.gaps;
      for (const [name, paint] of child.items) node.items.set(name, paint);
      for (const [key, count] of child.spread) node.spread.set(key, (node.spread.get(key) ?? 0) + count);
      if (child.value !== undefined) node.value = (node.value ?? 0) + child.value;
    }
    if (node.children.length === 0 && node.items.size === 0) node.gaps += 1;
    if (box.paint !== undefined && (node.children.length === 0 || node.items.size > 0)) {
      const key = paintKey(box.paint);
      if (rank.size === 0 || rank.has(key)) node.spread.set(key, (node.spread.get(key) ?? 0) + 1);
    }
  };
  for (const root of roots) roll(root);
  return roots;
}

/** Number of boxes down to a level; 1 is that of the roots. */
export function countTo(nodes: readonly Node[], level: number): number {
  if (level === 0) return 0;
  return nodes.reduce((sum, { children }) => sum + 1 + countTo(children, level - 1), 0);
}
