import type { PlanKind, TaskRow, WbsRow } from './ppm.model.ts';

/** The members of a task that plans depend on. Days are `YYYY-MM-DD`. */
export type PlanTask = Pick<TaskRow, 'id' | 'wbs_id' | 'status' | 'start_date' | 'due_date'>;

/** The same of an item of the work breakdown. */
export type PlanItem = Pick<
  WbsRow,
  'id' | 'parent_id' | 'start_date' | 'end_date' | 'is_milestone' | 'completion'
>;

/**
 * The plan of one initiative, in columns because plans contain thousands of parts. Parts are the items of the work
 * breakdown, followed by the tasks; other columns refer to them by index.
 */
export interface Plan {
  ids: readonly string[];
  /** The number of items. */
  items: number;
  /** By part: the item that contains it, -1 for none. */
  parents: Int32Array;
  /** By part: its own start date, as {@link dayNumber} counts; NaN for none. */
  starts: Float64Array;
  /** By part: its days by its own dates, as {@link daysBetween} counts; 0 for a milestone. */
  days: Float64Array;
  /** By dependency: the part that must end, and the one that starts afterwards. */
  preds: Int32Array;
  succs: Int32Array;
}

/** What the part at an index is. */
export const partKind = (plan: Plan, index: number): PlanKind => (index < plan.items ? 'wbs' : 'task');

const DAY_MS = 86_400_000;

/** A day as a number of days. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

/** The day of such a number as `YYYY-MM-DD`; null after the year 9999. */
export function dayText(number: number): string | null {
  const text = number > 2_932_896 ? '' : new Date(number * DAY_MS).toISOString();
  return text.length === 24 ? text.slice(0, 10) : null;
}

/** Days from the first day to the last, at least 1; 1 where either is unknown. */
export function daysBetween(first: string | null, last: string | null): number {
  if (first === null || last === null) return 1;
  return Math.max(1, dayNumber(last) - dayNumber(first));
}

/**
 * A plan as a network of nodes. A task, and an item without parts, is one node with its days. An item with parts is two
 * nodes without days: its start, before all of its parts, and its end, after them. So a dependency of an item applies to
 * its whole subtree, and cycles that this implies are cycles of the network.
 *
 * The start node of a part has the index of the part; the other end nodes follow.
 */
interface Network {
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
function networkOf(plan: Plan): Network {
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

/** The earliest and latest dates of the parts of a plan: each column by part, days as `dayNumber` counts them. */
export interface Schedule {
  start: number;
  end: number;
  /** Those of an item with parts span its parts. */
  earliestStart: Float64Array;
  earliestEnd: Float64Array;
  latestStart: Float64Array;
  latestEnd: Float64Array;
  /** Days by which it may be late without delaying the plan; 0 on the critical path. */
  slack: Float64Array;
  /** 1 for an item with parts. */
  isSummary: Uint8Array;
  /** The parts by earliest start, then end; items come before their parts. */
  order: Uint32Array;
}

/**
 * Computes the schedule of a plan; undefined where something depends on itself. Nothing starts before its predecessors
 * have ended, nor before its own start date. The plan starts with the first start date; `today` where there is none.
 * Ends are starts plus days, so that a successor may start on the day on which its predecessor ends. The time is linear
 * in parts and dependencies, except for the sorting.
 */
export function scheduleOf(plan: Plan, today: number): Schedule | undefined {
  const { ends, days, first, next, order } = networkOf(plan);
  if (order.length < days.length) return undefined;
  const parts = plan.ids.length;
  // an item with parts has the dates of its parts
  const ownStart = (part: number): number => (ends[part] === part ? plan.starts[part]! : Number.NaN);
  let start = Infinity;
  for (let part = 0; part < parts; part += 1) if (ownStart(part) < start) start = ownStart(part);
  if (start === Infinity) start = today;

  const early = new Float64Array(days.length).fill(start);
  for (let part = 0; part < parts; part += 1) if (ownStart(part) > start) early[part] = ownStart(part);
  let end = start;
  for (const node of order) {
    const ended = early[node]! + days[node]!;
    if (ended > end) end = ended;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) {
      if (early[next[edge]!]! < ended) early[next[edge]!] = ended;
    }
  }
  const late = new Float64Array(days.length);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at]!;
    let by = end;
    for (let edge = first[node]!; edge < first[node + 1]!; edge += 1) by = Math.min(by, late[next[edge]!]!);
    late[node] = by - days[node]!;
  }

  const schedule: Schedule = {
    start,
    end,
    earliestStart: new Float64Array(parts),
    earliestEnd: new Float64Array(parts),
    latestStart: new Float64Array(parts),
    latestEnd: new Float64Array(parts),
    slack: new Float64Array(parts),
    isSummary: new Uint8Array(parts),
    order: Uint32Array.from(plan.ids.keys()),
  };
  setTimes(schedule, plan, { ends, days, early, late });
  sortByStart(schedule, plan.ids);
  return schedule;
}

interface Times {
  ends: Int32Array;
  days: Float64Array;
  early: Float64Array;
  late: Float64Array;
}

/** Sets the times of parts; items get the span, and the least slack, of their parts. */
function setTimes(schedule: Schedule, { parents }: Plan, { ends, days, early, late }: Times): void {
  const { earliestStart, earliestEnd, latestStart, latestEnd, slack, isSummary } = schedule;
  for (let part = 0; part < parents.length; part += 1) {
    if (ends[part] === part) continue;
    isSummary[part] = 1;
    earliestStart[part] = latestStart[part] = slack[part] = Infinity;
    earliestEnd[part] = latestEnd[part] = -Infinity;
  }
  for (let part = 0; part < parents.length; part += 1) {
    if (isSummary[part]) continue;
    const first = early[part]!;
    const last = first + days[part]!;
    const lateFirst = late[part]!;
    const lateLast = lateFirst + days[part]!;
    earliestStart[part] = first;
    earliestEnd[part] = last;
    latestStart[part] = lateFirst;
    latestEnd[part] = lateLast;
    slack[part] = lateFirst - first;
    for (let item = parents[part]!; item >= 0; item = parents[item]!) {
      if (first < earliestStart[item]!) earliestStart[item] = first;
      if (last > earliestEnd[item]!) earliestEnd[item] = last;
      if (lateFirst < latestStart[item]!) latestStart[item] = lateFirst;
      if (lateLast > latestEnd[item]!) latestEnd[item] = lateLast;
      if (slack[part]! < slack[item]!) slack[item] = slack[part]!;
    }
  }
}

function sortByStart({ order, earliestStart, earliestEnd, isSummary }: Schedule, ids: readonly string[]) {
  order.sort(
    (a, b) =>
      earliestStart[a]! - earliestStart[b]! ||
      earliestEnd[a]! - earliestEnd[b]! ||
      isSummary[b]! - isSummary[a]! ||
      (ids[a]! < ids[b]! ? -1 : 1),
  );
}

/** The progress of an item. */
interface Progress {
  /** 0 to 100, unrounded. */
  progress: number;
  /** The tasks of the item and of those below it. */
  tasks: number;
}

interface Below extends Progress {
  /** Days of all tasks, and of those that are done. */
  days: number;
  done: number;
}

type Tracked = Pick<PlanTask, 'wbs_id' | 'status' | 'start_date' | 'due_date'>;

/**
 * The progress of each item of the work breakdown. For an item with tasks of its own it is the share of completed tasks,
 * at the item and below, weighted by their days (from start to due date, at least 1). For an item that only contains items
 * it is their mean. For any other item it is the completion that was entered.
 */
export function computeProgress(
  items: readonly PlanItem[],
  tasks: readonly Tracked[],
): Map<string, Progress> {
  const children = childrenOf(items);
  const byItem = tasksByItem(tasks, items);
  const found = new Map<string, Below>();
  for (const item of deepestFirst(items, children)) {
    const below = (children.get(item.id) ?? []).map(({ id }) => found.get(id)!);
    const own = byItem.get(item.id) ?? [];
    const sum = { tasks: own.length, days: 0, done: 0 };
    for (const { start_date, due_date, status } of own) {
      const days = daysBetween(start_date, due_date);
      sum.days += days;
      if (status === 'done') sum.done += days;
    }
    for (const part of below) {
      sum.tasks += part.tasks;
      sum.days += part.days;
      sum.done += part.done;
    }
    const progress =
      own.length > 0
        ? (100 * sum.done) / sum.days
        : below.length > 0
          ? mean(below.map((part) => part.progress))
          : item.completion;
    found.set(item.id, { ...sum, progress });
  }
  return found;
}

/** The completion of an initiative: the mean of the roots of its work breakdown, one decimal; 0 without any. */
export function completionOf(items: readonly PlanItem[], tasks: readonly Tracked[]): number {
  const found = computeProgress(items, tasks);
  const roots = childrenOf(items).get(null) ?? [];
  return roots.length === 0 ? 0 : oneDecimal(mean(roots.map(({ id }) => found.get(id)!.progress)));
}

/** Percentages in answers have one decimal. */
export const oneDecimal = (value: number): number => Math.round(value * 10) / 10;

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Every item after those below it. */
function deepestFirst(
  items: readonly PlanItem[],
  children: ReadonlyMap<string | null, PlanItem[]>,
): PlanItem[] {
  const ordered: PlanItem[] = [];
  const open = [...(children.get(null) ?? [])];
  for (let item = open.pop(); item; item = open.pop()) {
    ordered.push(item);
    open.push(...(children.get(item.id) ?? []));
  }
  return ordered.length === items.length ? ordered.reverse() : [];
}

/** The items by the item above them, roots under null. */
function childrenOf(items: readonly PlanItem[]): Map<string | null, PlanItem[]> {
  const known = new Set<string | null>(items.map(({ id }) => id));
  return Map.groupBy(items, ({ parent_id }) => (known.has(parent_id) ? parent_id : null));
}

/** The tasks by the item that they are part of, others under null. */
function tasksByItem<T extends Pick<PlanTask, 'wbs_id'>>(
  tasks: readonly T[],
  items: readonly PlanItem[],
): Map<string | null, T[]> {
  const known = new Set<string | null>(items.map(({ id }) => id));
  return Map.groupBy(tasks, ({ wbs_id }) => (known.has(wbs_id) ? wbs_id : null));
}
