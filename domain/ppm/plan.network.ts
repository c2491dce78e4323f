import { childrenOf, daysBetween, type Plan, tasksByItem } from './plan.types.ts';

/*
 * A plan as a network of nodes: a task, and an item with nothing below it, is one node with its days; an item with
 * something below is two nodes without days, its start, before everything below it, and its end, after all of it. So a
 * dependency of an item holds for all of its subtree, and what it implies shows as a circle like any other.
 */

/** An item or a task in the network. */
export interface Member {
  id: string;
  kind: 'task' | 'wbs';
  /** Its place, also that of its start; `end` is another one for an item with something below. */
  start: number;
  end: number;
  /** The item above. */
  above: string | null;
}

export interface Network {
  members: Member[];
  /** By node: its days, and the nodes that come after it. */
  days: number[];
  after: number[][];
  /** All nodes, each after those before it; shorter than `days` where there is a circle. */
  order: number[];
}

/** Builds the network of a plan. */
export function networkOf({ tasks, items, dependencies }: Plan): Network {
  const members: Member[] = [];
  const byId = new Map<string, Member>();
  const days: number[] = [];
  const after: number[][] = [];
  const node = (length: number): number => {
    after.push([]);
    return days.push(length) - 1;
  };
  const add = (member: Member) => {
    members.push(member);
    byId.set(member.id, member);
  };
  const children = childrenOf(items);
  const byItem = tasksByItem(tasks, items);
  const known = new Set(items.map(({ id }) => id));
  const above = (id: string | null): string | null => (id !== null && known.has(id) ? id : null);
  for (const item of items) {
    const isSummary = children.has(item.id) || byItem.has(item.id);
    const length = isSummary || item.is_milestone ? 0 : daysBetween(item.start_date, item.end_date);
    const start = node(length);
    const end = isSummary ? node(0) : start;
    add({ id: item.id, kind: 'wbs', start, end, above: above(item.parent_id) });
  }
  for (const task of tasks) {
    const start = node(daysBetween(task.start_date, task.due_date));
    add({ id: task.id, kind: 'task', start, end: start, above: above(task.wbs_id) });
  }
  for (const { start, end, above: item } of members) {
    if (item === null) continue;
    const parent = byId.get(item)!;
    after[parent.start]!.push(start);
    after[end]!.push(parent.end);
  }
  for (const { pred, succ } of dependencies) {
    const [before, behind] = [byId.get(pred), byId.get(succ)];
    if (before && behind) after[before.end]!.push(behind.start);
  }
  return { members, days, after, order: ordered(after) };
}

/** The nodes in an order in which each stands after those before it (Kahn's algorithm); those of circles are missing. */
function ordered(after: number[][]): number[] {
  const waits = new Int32Array(after.length);
  for (const next of after) for (const node of next) waits[node]! += 1;
  const order: number[] = [];
  for (let node = 0; node < after.length; node += 1) if (waits[node] === 0) order.push(node);
  for (let at = 0; at < order.length; at += 1) {
    for (const node of after[order[at]!]!) {
      waits[node]! -= 1;
      if (waits[node] === 0) order.push(node);
    }
  }
  return order;
}

/** Whether something in the plan would have to wait for itself, also by what dependencies of items imply. */
export function hasCircle(plan: Plan): boolean {
  const { order, days } = networkOf(plan);
  return order.length < days.length;
}
