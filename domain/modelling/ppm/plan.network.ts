import type { Plan } from './plan.types.ts';

/**
 * A plan as a network of nodes. A task, and an item without parts, is one node with its days. An item with parts is two
 * nodes without days: its start, before all of its parts, and its end, after them. So a dependency of an item applies to
 * its whole subtree, and cycles that this implies are cycles of the network.
 *
 * The start node of a part has the index of the part; the other end nodes follow.
 */
export interface Network {
  /** By part: its end node, which is its start node when it has no parts. */
  ends: Int32Array;
  /** By node: its days. */
  days: Float64Array;
  /** The successors of node n are `next[first[n]]` to `next[first[n + 1] - 1]`. */
  first: Int32Array;
  next: Int32Array;
  /** The nodes in topological order, without those of cycles. */
  order: Int32Array;
}

/** Builds the network of a plan. */
export function networkOf(plan: Plan): Network {
  const { parents, preds, succs } = plan;
  const parts = parents.length;
  const ends = Int32Array.from(parents.keys());
  let nodes = parts;
  for (const item of parents) {
    if (item < 0 || ends[item] !== item) continue;
    ends[item] = nodes;
    nodes += 1;
  }
  const days = new Float64Array(nodes);
  for (let part = 0; part < parts; part += 1) if (ends[part] === part) days[part] = plan.days[part]!;

  // edges are counted first, so that one array holds them all
  const first = new Int32Array(nodes + 1);
  const eachEdge = (visit: (from: number, to: number) => void) => {
    for (let part = 0; part < parts; part += 1) {
      const item = parents[part]!;
      if (item < 0) continue;
      visit(item, part);
      visit(ends[part]!, ends[item]!);
    }
    for (let n = 0; n < preds.length; n += 1) visit(ends[preds[n]!]!, succs[n]!);
  };
  eachEdge((from) => {
    first[from + 1]! += 1;
  });
  for (let node = 0; node < nodes; node += 1) first[node + 1]! += first[node]!;
  const next = new Int32Array(first[nodes]!);
  const free = first.slice();
  eachEdge((from, to) => {
    next[free[from]!] = to;
    free[from]! += 1;
  });
  return { ends, days, first, next, order: topologicalOrder(first, next) };
}

/** Kahn's algorithm. */
function topologicalOrder(first: Int32Array, next: Int32Array): Int32Array {
  const nodes = first.length - 1;
  const predecessors = new Int32Array(nodes);
  for (const node of next) predecessors[node]! += 1;
  const order = new Int32Array(nodes);
  let found = 0;
  for (let node = 0; node < nodes; node += 1) if (predecessors[node] === 0) order[found++] = node;
  for (let at = 0; at < found; at += 1) {
    const node = order[at]!;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) {
      const after = next[edge]!;
      predecessors[after]! -= 1;
      if (predecessors[after] === 0) order[found++] = after;
    }
  }
  return order.subarray(0, found);
}

/** Whether something in the plan depends on itself, also by dependencies of items that contain it. */
export function hasCycle(plan: Plan): boolean {
  const { order, days } = networkOf(plan);
  return order.length < days.length;
}
