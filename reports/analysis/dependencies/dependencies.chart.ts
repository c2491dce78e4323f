import { counted } from '../../../platform/counted.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import type { GraphParams } from './dependencies.graph.ts';

interface Node {
  id: string;
  name: string;
  type: string;
}

interface Edge {
  source: string;
  target: string;
}

/** What a picture shows of the graph. */
export interface DrawnGraph {
  nodes: Node[];
  edges: Edge[];
  /** Of all cards, where these are some. */
  total_nodes?: number;
}

/** Cards of the colour of their type, joined by their relations: those nearest to the one in the middle, or the most related. */
export function dependenciesChart(
  { nodes, edges, total_nodes }: DrawnGraph,
  { center_id, depth, type }: GraphParams,
  context: ChartContext,
): Chart {
  const near = nearest(nodes, edges, center_id);
  const center = center_id === undefined ? undefined : near.find(({ id }) => id === center_id);
  const hops = counted(depth, 'relation');
  const of = type === undefined ? '' : ` of ${typeLabel(context, type)}`;
  return {
    kind: 'graph',
    title: center ? `Dependencies${of} around ${center.name}` : `Dependencies${of}`,
    note: `${center ? `Up to ${hops} away` : 'Most related first'}; arrows lead to the target`,
    groupAxis: 'Type',
    nodes: near.map((node) => ({
      id: node.id,
      name: node.name,
      group: typeLabel(context, node.type),
      ...(node === center ? { centre: true } : {}),
    })),
    edges: edges.map(({ source, target }) => ({ source, target })),
    ...(total_nodes === undefined ? {} : { total: total_nodes }),
  };
}

/** The nodes by their distance from one, nearest first, and those with more relations before others. */
function nearest(nodes: Node[], edges: Edge[], center: string | undefined): Node[] {
  const peers = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { source, target } of edges) {
    peers.get(source)?.push(target);
    peers.get(target)?.push(source);
  }
  const distance = new Map<string, number>();
  const reached = center === undefined ? [] : [center];
  for (const id of reached) distance.set(id, 0);
  // grows while it is gone through
  for (const id of reached) {
    for (const peer of peers.get(id) ?? []) {
      if (distance.has(peer)) continue;
      distance.set(peer, distance.get(id)! + 1);
      reached.push(peer);
    }
  }
  const far = (id: string) => distance.get(id) ?? Infinity;
  const rank = (a: Node, b: Node) =>
    far(a.id) === far(b.id) ? peers.get(b.id)!.length - peers.get(a.id)!.length : far(a.id) - far(b.id);
  return nodes.toSorted((a, b) => rank(a, b) || (a.id < b.id ? -1 : 1));
}
