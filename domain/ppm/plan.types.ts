import type { TaskStatus } from './ppm.types.ts';

/** A task as far as the rules of plans go. Days are `YYYY-MM-DD`. */
export interface PlanTask {
  id: string;
  /** The item of the work breakdown that it is part of. */
  wbs_id: string | null;
  status: TaskStatus;
  start_date: string | null;
  due_date: string | null;
}

/** An item of the work breakdown. */
export interface PlanItem {
  id: string;
  parent_id: string | null;
  start_date: string | null;
  end_date: string | null;
  is_milestone: boolean;
  /** What somebody has said, 0 to 100. */
  completion: number;
}

/** The successor starts when the predecessor has ended; each is a task or an item, by its id. */
export interface PlanDependency {
  pred: string;
  succ: string;
}

/** The plan of one initiative. An item or a task whose parent is not among the items lies at the top. */
export interface Plan {
  tasks: PlanTask[];
  items: PlanItem[];
  dependencies: PlanDependency[];
}

const DAY_MS = 86_400_000;

/** A day as a number of days. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

/** The day of such a number as `YYYY-MM-DD`; null beyond the year 9999. */
export function dayText(number: number): string | null {
  const text = number > 2_932_896 ? '' : new Date(number * DAY_MS).toISOString();
  return text.length === 24 ? text.slice(0, 10) : null;
}

/** Days from the first day to the last, at least 1; 1 where either is not known. */
export function daysBetween(first: string | null, last: string | null): number {
  if (first === null || last === null) return 1;
  return Math.max(1, dayNumber(last) - dayNumber(first));
}

/** The items by the item above them, roots under null. */
export function childrenOf(items: readonly PlanItem[]): Map<string | null, PlanItem[]> {
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
export function tasksByItem<T extends Pick<PlanTask, 'wbs_id'>>(
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
