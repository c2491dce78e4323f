import type { DependenciesReport } from '#client';

/** The size of a node, the room beside and below it, and the height of a type's name, in pixels. */
export const CELL = { width: 208, height: 30, right: 112, below: 6, head: 30 };

export type GraphData = Pick<DependenciesReport, 'edges' | 'bundles'> & {
  nodes: { id: string; name: string; type: string }[];
};

/** The cards of one type at one distance from the card in the middle. */
interface Group {
  type: string;
  x: number;
  y: number;
  nodes: { id: string; name: string; y: number; says: string[] }[];
  /** Cards that the report left out. */
  more?: { y: number; count: number };
}

interface Edge {
  key: string;
  source: string;
  target: string;
  path: string;
  /** Whether data flows to the end or to the start. */
  end: boolean;
  start: boolean;
  /** Whether it joins neighbours at one side, which is less than what joins them to the middle. */
  isBeside: boolean;
}

/**
 * Places the card in the middle, types before its own in the metamodel at the left, the others at the right, further
 * steps further out.
 */
export function layoutOf(data: GraphData, center: string, order: readonly string[]) {
  const byId = new Map(data.nodes.map((node) => [node.id, node]));
  const rank = (id: string) => order.indexOf(byId.get(id)?.type ?? '');
  const sides = sidesOf(data, center, (id) => (rank(id) < rank(center) ? -1 : 1));
  const left = new Map(
    (data.bundles ?? []).filter(({ card_id }) => card_id === center).map(({ type, count }) => [type, count]),
  );
  const sideOfType = (type: string) => (order.indexOf(type) < rank(center) ? -1 : 1);
  const columns = [...new Set([...sides.values(), ...[...left.keys()].map(sideOfType)])].sort(
    (a, b) => a - b,
  );
  const place = new Map<string, { x: number; y: number }>();
  const groups: Group[] = [];
  const heights = columns.map((side, at) => {
    const x = at * (CELL.width + CELL.right);
    const here = data.nodes.filter(({ id }) => sides.get(id) === side);
    const types = order.filter(
      (type) => here.some((node) => node.type === type) || (left.has(type) && sideOfType(type) === side),
    );
    let y = 0;
    for (const type of types) {
      const group: Group = { type, x, y, nodes: [] };
      y += CELL.head;
      for (const { id, name } of here
        .filter((node) => node.type === type)
        .sort((a, b) => a.name.localeCompare(b.name))) {
        group.nodes.push({ id, name, y, says: verbsOf(data, center, id) });
        place.set(id, { x, y });
        y += CELL.height + CELL.below;
      }
      const count = side === sideOfType(type) ? left.get(type) : undefined;
      if (count) {
        group.more = { y, count };
        y += CELL.height + CELL.below;
      }
      y += CELL.below;
      groups.push(group);
    }
    return y;
  });
  const height = Math.max(...heights);
  // each column stands in the middle of the highest one
  const shift = new Map(
    columns.map((_, at) => [at * (CELL.width + CELL.right), (height - heights[at]!) / 2]),
  );
  for (const spot of place.values()) spot.y += shift.get(spot.x)!;
  for (const group of groups) {
    const by = shift.get(group.x)!;
    group.y += by;
    for (const node of group.nodes) node.y += by;
    if (group.more) group.more.y += by;
  }
  const edges = data.edges.flatMap(({ source, target, type, flow }, at): Edge[] => {
    const [a, b] = [place.get(source), place.get(target)];
    if (!a || !b || source === target) return [];
    return [
      {
        key: `${at} ${type}`,
        source,
        target,
        path: curve(a, b),
        end: flow === 'forward' || flow === 'bidirectional',
        start: flow === 'reverse' || flow === 'bidirectional',
        isBeside: source !== center && target !== center,
      },
    ];
  });
  return { groups, edges, width: columns.length * (CELL.width + CELL.right) - CELL.right + 40, height };
}

/** How many steps each card is from the middle, negative at the left. */
function sidesOf({ nodes, edges }: GraphData, center: string, sideOf: (id: string) => number) {
  const sides = new Map([[center, 0]]);
  for (let edge = [center]; edge.length > 0; ) {
    const next: string[] = [];
    for (const { source, target } of edges)
      for (const [from, to] of [
        [source, target],
        [target, source],
      ] as const) {
        if (!edge.includes(from) || sides.has(to)) continue;
        const side = sides.get(from)!;
        sides.set(to, side === 0 ? sideOf(to) : side + Math.sign(side));
        next.push(to);
      }
    edge = next;
  }
  // related by cards that are not shown
  for (const { id } of nodes) if (!sides.has(id)) sides.set(id, sideOf(id));
  return sides;
}

/** What the relations between the middle and a card say. */
const verbsOf = ({ edges }: GraphData, center: string, id: string): string[] =>
  edges.flatMap(({ source, target, label, reverse_label }) =>
    source === center && target === id
      ? [reverse_label ?? label ?? '']
      : target === center && source === id
        ? [label ?? '']
        : [],
  );

/** A line from the side of one node to the nearest side of another; within a column around the right side. */
function curve(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const middle = CELL.height / 2;
  const [ya, yb] = [a.y + middle, b.y + middle];
  if (a.x === b.x) {
    const x = a.x + CELL.width;
    return `M${x} ${ya}C${x + 32} ${ya} ${x + 32} ${yb} ${x} ${yb}`;
  }
  const isRight = b.x > a.x;
  const xa = isRight ? a.x + CELL.width : a.x;
  const xb = isRight ? b.x : b.x + CELL.width;
  const bend = (xb - xa) / 2;
  return `M${xa} ${ya}C${xa + bend} ${ya} ${xb - bend} ${yb} ${xb} ${yb}`;
}
