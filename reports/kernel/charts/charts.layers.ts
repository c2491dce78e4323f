import { chartText, type InLanguage } from './charts.texts.ts';
import type { GraphChart, Paint } from './charts.types.ts';

/** Names listed in a bundle. */
const LISTED = 6;

/** A node or bundle of nodes in a layer. */
export interface LayerNode {
  id: string;
  name: string;
  /** The name of its group. */
  group: string;
  paint: Paint;
  layer: number;
  /** Names of bundled nodes; absent for a single one. */
  names?: string[];
  /** Number of bundled nodes. */
  count: number;
  isCentre: boolean;
}

/** Lines between two nodes or bundles. */
export interface LayerEdge {
  source: string;
  target: string;
  count: number;
  /** Whether data flows to the target, and to the source. */
  toTarget: boolean;
  toSource: boolean;
}

export interface Layers {
  names: string[];
  /** In the order from top to bottom. */
  columns: LayerNode[][];
  edges: LayerEdge[];
  bundled: number;
}

/**
 * Nodes by layer, ordered so that few lines cross.
 * @param most nodes of a group that are single; of more, they are bundled.
 */
export function layersOf(chart: GraphChart, most: number): Layers {
  const degrees = new Map<string, number>();
  for (const { source, target } of chart.edges) {
    for (const id of [source, target]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  }
  const byGroup = Map.groupBy(chart.nodes, ({ group }) => group);
  const layerKeys = chart.layers.map(({ key }) => key);
  const bundleOf = new Map<string, string>();
  const nodes = chart.groups.flatMap(({ key, name, paint, layer }): LayerNode[] => {
    const members = byGroup.get(key) ?? [];
    const of = { group: name, paint, layer: layerKeys.indexOf(layer) };
    const single = members.filter(({ centre }) => centre || members.length <= most);
    const rest = members
      .filter((node) => !single.includes(node))
      .sort((a, b) => (degrees.get(b.id) ?? 0) - (degrees.get(a.id) ?? 0));
    const id = `bundle ${key}`;
    for (const { id: member } of rest) bundleOf.set(member, id);
    const bundle =
      rest.length === 0
        ? []
        : [
            {
              ...of,
              id,
              name,
              count: rest.length,
              isCentre: false,
              names: rest.slice(0, LISTED).map((node) => node.name),
            },
          ];
    return [
      ...single.map((node) => ({
        ...of,
        id: node.id,
        name: node.name,
        count: 1,
        isCentre: node.centre === true,
      })),
      ...bundle,
    ];
  });
  const place = (id: string) => bundleOf.get(id) ?? id;
  const known = new Set(nodes.map(({ id }) => id));
  const edges = new Map<string, LayerEdge>();
  for (const edge of chart.edges) {
    const [source, target] = [place(edge.source), place(edge.target)];
    if (source === target || !known.has(source) || !known.has(target)) continue;
    const key = `${source} ${target}`;
    const sum = edges.get(key) ?? { source, target, count: 0, toTarget: false, toSource: false };
    sum.count += 1;
    if (edge.flow) {
      sum.toTarget ||= edge.flow !== 'reverse';
      sum.toSource ||= edge.flow !== 'forward';
    }
    edges.set(key, sum);
  }
  const used = chart.layers
    .map((layer, at) => ({ ...layer, at }))
    .filter(({ at }) => nodes.some(({ layer }) => layer === at));
  const columns = used.map(({ at }) => nodes.filter(({ layer }) => layer === at));
  return {
    names: used.map(({ name }) => name),
    columns: ordered(columns, [...edges.values()]),
    edges: [...edges.values()],
    bundled: bundleOf.size,
  };
}

/** Orders each column by the mean place of its neighbours, keeping groups together. */
function ordered(columns: LayerNode[][], edges: LayerEdge[]): LayerNode[][] {
  const peers = new Map<string, string[]>();
  for (const { source, target } of edges) {
    peers.set(source, [...(peers.get(source) ?? []), target]);
    peers.set(target, [...(peers.get(target) ?? []), source]);
  }
  const current = [...columns];
  const place = new Map<string, number>();
  const put = (column: LayerNode[]) => {
    for (const [at, { id }] of column.entries()) place.set(id, (at + 0.5) / column.length);
  };
  current.forEach(put);
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const mean = (node: LayerNode) => {
      if (node.isCentre) return 0.5;
      const known = (peers.get(node.id) ?? []).map((id) => place.get(id)!);
      return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : 0.5;
    };
    // each column by those just ordered, to the right and back: at once, two columns could swap for ever
    const turn = [...current.keys()];
    for (const at of sweep % 2 === 0 ? turn : turn.reverse()) {
      const column = current[at]!;
      const groups = Map.groupBy(column, ({ group }) => group);
      const groupMean = new Map(
        [...groups].map(([group, own]) => [
          group,
          own.reduce((sum, node) => sum + mean(node), 0) / own.length,
        ]),
      );
      current[at] = column.toSorted((a, b) =>
        a.group === b.group
          ? mean(a) - mean(b)
          : groupMean.get(a.group)! - groupMean.get(b.group)! || (a.group < b.group ? -1 : 1),
      );
      put(current[at]);
    }
  }
  return current;
}

/** The second line of a bundle. */
export const bundleNote = ({ count, names = [] }: LayerNode, language: InLanguage): string =>
  count > names.length ? chartText(language, 'graph.andOthers', { count: count - names.length }) : '';
