import { daysBetween, type PlanItem, type PlanTask } from './plan.types.ts';

/** The progress of an item. */
export interface Progress {
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
export function progressOf(items: readonly PlanItem[], tasks: readonly Tracked[]): Map<string, Progress> {
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
  const found = progressOf(items, tasks);
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
  const known = new Set(items.map(({ id }) => id));
  const children = new Map<string | null, PlanItem[]>();
  for (const item of items) {
    const parent = item.parent_id !== null && known.has(item.parent_id) ? item.parent_id : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(item);
    else children.set(parent, [item]);
  }
  return children;
}

/** The tasks by the item that they are part of, others under null. */
function tasksByItem<T extends Pick<PlanTask, 'wbs_id'>>(
  tasks: readonly T[],
  items: readonly PlanItem[],
): Map<string | null, T[]> {
  const known = new Set(items.map(({ id }) => id));
  const byItem = new Map<string | null, T[]>();
  for (const task of tasks) {
    const item = task.wbs_id !== null && known.has(task.wbs_id) ? task.wbs_id : null;
    const others = byItem.get(item);
    if (others) others.push(task);
    else byItem.set(item, [task]);
  }
  return byItem;
}
