import type { ChartContext } from '../../../../reports/kernel/charts/charts.labels.ts';
import { layersOfTypes } from '../../../../reports/kernel/charts/charts.type-layers.ts';
import type { Graph, GraphEdge, GraphNode } from './explorer.data.ts';

/** A box of the picture: a card, or several of one type. */
export interface Item {
  key: string;
  layer: string;
  type: string;
  nodes: GraphNode[];
  /** Cards that are counted only. */
  more: number;
  isBundle: boolean;
  isOpen: boolean;
  isCenter: boolean;
  x: number;
  y: number;
  height: number;
}

export interface Line {
  key: string;
  d: string;
  ends: [Item, Item];
  edges: GraphEdge[];
  /** Where data arrives. */
  arrows: { start: boolean; end: boolean };
}

export interface Layout {
  columns: { key: string; name: string; x: number }[];
  items: Item[];
  lines: Line[];
  width: number;
  height: number;
}

export const ITEM = { width: 200, height: 46, row: 26, gap: 14, column: 80, top: 40, listed: 12 };

/** The neighbours of the centre, and what data flows to and from them; relations of others only where data flows. */
export function alongFlows(graph: Graph, center: string): Graph {
  const near = new Set([center]);
  for (const { source, target } of graph.edges) {
    if (source === center) near.add(target);
    if (target === center) near.add(source);
  }
  // data flows on through what lies between, not through other cards of the type
  const middle = graph.nodes.get(center)?.type;
  const passes = (id: string) => id === center || (near.has(id) && graph.nodes.get(id)?.type !== middle);
  const kept = new Set(near);
  for (const { source, target, flow } of graph.edges) {
    if (!flow) continue;
    if (passes(source)) kept.add(target);
    if (passes(target)) kept.add(source);
  }
  return {
    nodes: new Map([...graph.nodes].filter(([id]) => kept.has(id))),
    edges: graph.edges.filter(
      ({ source, target, flow }) =>
        kept.has(source) &&
        kept.has(target) &&
        (source === center || target === center || (flow && (passes(source) || passes(target)))),
    ),
    leftOut: graph.leftOut.filter(({ card_id }) => card_id === center),
  };
}

/** Types of cards in a layer that are one box from two on, unless data flows through them. */
function itemsOf(
  nodes: GraphNode[],
  graph: Graph,
  layer: string,
  center: string,
  show: readonly string[],
  counted: readonly string[],
): Item[] {
  const inFlow = new Set(graph.edges.flatMap(({ flow, source, target }) => (flow ? [source, target] : [])));
  const place = { layer, x: 0, y: 0, height: ITEM.height, isOpen: false };
  const byType = Map.groupBy(nodes, ({ type }) => type);
  for (const type of counted) if (!byType.has(type)) byType.set(type, []);
  return [...byType].flatMap(([type, all]) => {
    const own = all.filter(({ id }) => id !== center);
    const middle = all
      .filter(({ id }) => id === center)
      .map(
        (node): Item => ({
          ...place,
          key: node.id,
          type,
          nodes: [node],
          more: 0,
          isBundle: false,
          isCenter: true,
        }),
      );
    const leftOut = graph.leftOut
      .filter((one) => one.type === type)
      .reduce((sum, { count }) => sum + count, 0);
    const isBundle =
      leftOut > 0 || own.length > ITEM.listed || (own.length > 1 && !own.some(({ id }) => inFlow.has(id)));
    if (!isBundle)
      return [
        ...middle,
        ...own.map(
          (node): Item => ({
            ...place,
            key: node.id,
            type,
            nodes: [node],
            more: 0,
            isBundle,
            isCenter: false,
          }),
        ),
      ];
    const key = `${layer}|${type}`;
    const isOpen = show.includes(key);
    const sorted = own.toSorted((a, b) => a.name.localeCompare(b.name));
    const rows = Math.min(ITEM.listed, own.length) + (own.length > ITEM.listed ? 1 : 0);
    const height = isOpen ? ITEM.height + rows * ITEM.row + 6 : ITEM.height;
    return [
      ...middle,
      { ...place, key, type, nodes: sorted, more: leftOut, isBundle, isOpen, isCenter: false, height },
    ];
  });
}

interface LayoutInput {
  graph: Graph;
  center: string;
  show: readonly string[];
  context: ChartContext;
  nameOf(layer: string, name: string): string;
}

/** Places the cards in columns by the layers of the metamodel, with few crossings. */
export function layoutOf({ graph, center, show, context, nameOf }: LayoutInput): Layout {
  const nodes = [...graph.nodes.values()];
  const middle = graph.nodes.get(center);
  const layered = layersOfTypes(nodes, graph.edges, middle, context);
  const layerOfGroup = new Map(layered.groups.map(({ key, layer }) => [key, layer]));
  const byLayer = Map.groupBy(layered.nodes, ({ group }) => layerOfGroup.get(group) ?? '');
  const columns = layered.layers.flatMap(({ key, name }) => {
    const own = (byLayer.get(key) ?? []).map(({ id }) => graph.nodes.get(id)!);
    const counted = graph.leftOut.flatMap(({ type }) => (layerOfGroup.get(type) === key ? [type] : []));
    return own.length + counted.length > 0
      ? [{ key, name: nameOf(key, name), items: itemsOf(own, graph, key, center, show, counted) }]
      : [];
  });
  const items = columns.flatMap((column) => column.items);
  const itemOf = new Map(items.flatMap((item) => item.nodes.map(({ id }) => [id, item] as const)));
  for (const item of items) if (item.more > 0) itemOf.set(bundleOf(item.type), item);
  const toBundles = graph.leftOut.map(({ card_id, type }) => ({
    source: card_id,
    target: bundleOf(type),
    type: '',
  }));
  const pairs = pairsOf([...graph.edges, ...toBundles], itemOf);
  order(columns, pairs);
  const height = place(columns);
  return {
    columns: columns.map(({ key, name }, at) => ({ key, name, x: xOf(at) })),
    items,
    lines: pairs.map((pair) => lineOf(pair, itemOf)),
    width: columns.length * (ITEM.width + ITEM.column),
    height,
  };
}

/** Stands for the cards of a type that are counted only. */
const bundleOf = (type: string) => `bundle|${type}`;

const xOf = (column: number) => 16 + column * (ITEM.width + ITEM.column);

interface Pair {
  ends: [Item, Item];
  edges: GraphEdge[];
}

/** The relations between two boxes together. */
function pairsOf(edges: readonly GraphEdge[], itemOf: ReadonlyMap<string, Item>): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const edge of edges) {
    const [a, b] = [itemOf.get(edge.source), itemOf.get(edge.target)];
    if (!a || !b || a === b) continue;
    const ends: [Item, Item] = a.key < b.key ? [a, b] : [b, a];
    const key = `${ends[0].key} ${ends[1].key}`;
    const pair = pairs.get(key) ?? { ends, edges: [] };
    pairs.set(key, pair);
    pair.edges.push(edge);
  }
  return [...pairs.values()];
}

const firstName = ({ nodes }: Item): string => nodes[0]?.name ?? '';

/** Orders the boxes of each column by the mean place of what they are related to. */
function order(columns: { items: Item[] }[], pairs: readonly Pair[]): void {
  const peers = new Map<Item, Item[]>();
  for (const {
    ends: [a, b],
  } of pairs) {
    peers.set(a, [...(peers.get(a) ?? []), b]);
    peers.set(b, [...(peers.get(b) ?? []), a]);
  }
  const rank = new Map<Item, number>();
  const rerank = ({ items }: { items: Item[] }) => {
    for (const [at, item] of items.entries()) rank.set(item, (at + 0.5) / items.length);
  };
  for (const column of columns) {
    column.items.sort((a, b) => a.type.localeCompare(b.type) || firstName(a).localeCompare(firstName(b)));
    rerank(column);
  }
  const mean = (item: Item) => {
    const near = peers.get(item) ?? [];
    return near.length > 0
      ? near.reduce((sum, one) => sum + rank.get(one)!, 0) / near.length
      : rank.get(item)!;
  };
  for (const pass of [columns, columns.toReversed(), columns, columns.toReversed()]) {
    for (const column of pass) {
      const weights = new Map(column.items.map((item) => [item, mean(item)]));
      column.items.sort((a, b) => weights.get(a)! - weights.get(b)!);
      const middle = column.items.findIndex(({ isCenter }) => isCenter);
      if (middle >= 0) {
        const [item] = column.items.splice(middle, 1);
        column.items.splice(Math.round(column.items.length / 2), 0, item!);
      }
      rerank(column);
    }
  }
}

/** Places the boxes; columns are centred. @returns the height of all. */
function place(columns: { items: Item[] }[]): number {
  const heightOf = ({ items }: { items: Item[] }) =>
    items.reduce((sum, { height }) => sum + height + ITEM.gap, -ITEM.gap);
  const most = Math.max(320, ...columns.map(heightOf));
  for (const [at, column] of columns.entries()) {
    let y = ITEM.top + (most - heightOf(column)) / 2;
    for (const item of column.items) {
      item.x = xOf(at);
      item.y = y;
      y += item.height + ITEM.gap;
    }
  }
  return most + ITEM.top + 24;
}

function lineOf({ ends, edges }: Pair, itemOf: ReadonlyMap<string, Item>): Line {
  const [left, right] = ends[0].x <= ends[1].x ? ends : ([ends[1], ends[0]] as [Item, Item]);
  const from = [left.x + ITEM.width, left.y + ITEM.height / 2] as const;
  const isSame = left.x === right.x;
  const to = [isSame ? right.x + ITEM.width : right.x, right.y + ITEM.height / 2] as const;
  const bend = isSame ? 30 + Math.min(30, Math.abs(to[1] - from[1]) / 12) : (to[0] - from[0]) / 2;
  const d = `M${from[0]} ${from[1]}C${from[0] + bend} ${from[1]} ${isSame ? to[0] + bend : to[0] - bend} ${to[1]} ${to[0]} ${to[1]}`;
  const arrows = { start: false, end: false };
  for (const { flow, source } of edges) {
    if (!flow) continue;
    const fromLeft = itemOf.get(source) === left;
    const toEnd = (flow === 'forward') === fromLeft;
    if (flow === 'bidirectional' || toEnd) arrows.end = true;
    if (flow === 'bidirectional' || !toEnd) arrows.start = true;
  }
  return { key: `${left.key} ${right.key}`, d, ends: [left, right], edges, arrows };
}
