import type { Plan } from './plan.types.ts';

/*
 * A plan as a network of nodes: a task, and an item with nothing below it, is one node with its days; an item with
 * something below is two nodes without days, its start, before everything below it, and its end, after all of it. So a
 * dependency of an item holds for all of its subtree, and what it implies shows as a circle like any other.
 *
 * The node of a part's start has the part's own place; those of the other ends come behind.
 */
export interface Network {
  /** By part: the node of its end, which is that of its start where nothing lies below it. */
  ends: Int32Array;
  /** By node: its days. */
  days: Float64Array;
  /** The nodes after node n stand in `next` from `first[n]` on, before `first[n + 1]`. */
  first: Int32Array;
  next: Int32Array;
  /** All nodes, each after those before it; fewer than there are where there is a circle. */
  order: Int32Array;
}

/** Builds the network of a plan. */
export function networkOf(plan: Plan): Network {
  const { above, preds, succs } = plan;
  const parts = above.length;
  const ends = Int32Array.from(above.keys());
  let nodes = parts;
  for (const item of above) {
    if (item < 0 || ends[item] !== item) continue;
    ends[item] = nodes;
    nodes += 1;
  }
  const days = new Float64Array(nodes);
  for (let part = 0; part < parts; part += 1) if (ends[part] === part) days[part] = plan.days[part]!;

  // counted first, so that all edges lie in one array
  const first = new Int32Array(nodes + 1);
  const eachEdge = (visit: (from: number, to: number) => void) => {
    for (let part = 0; part < parts; part += 1) {
      const item = above[part]!;
      if (item < 0) continue;
      visit(item, part);
      visit(ends[part]!, ends[item]!);
    }
    for (let at = 0; at < preds.length; at += 1) visit(ends[preds[at]!]!, succs[at]!);
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
  return { ends, days, first, next, order: ordered(first, next) };
}

/** The nodes in an order in which each stands after those before it (Kahn's algorithm); those of circles are missing. */
function ordered(first: Int32Array, next: Int32Array): Int32Array {
  const nodes = first.length - 1;
  const waits = new Int32Array(nodes);
  for (const node of next) waits[node]! += 1;
  const order = new Int32Array(nodes);
  let found = 0;
  for (let node = 0; node < nodes; node += 1) if (waits[node] === 0) order[found++] = node;
  for (let at = 0; at < found; at += 1) {
    const node = order[at]!;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) {
      const after = next[edge]!;
      waits[after]! -= 1;
      if (waits[after] === 0) order[found++] = after;
    }
  }
  return order.subarray(0, found);
}

/** Whether something in the plan would have to wait for itself, also by what dependencies of items imply. */
export function hasCircle(plan: Plan): boolean {
  const { order, days } = networkOf(plan);
  return order.length < days.length;
}
