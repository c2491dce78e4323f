import type { PlanKind, TaskStatus } from './ppm.types.ts';

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

/**
 * The plan of one initiative, as columns: plans hold thousands of parts. Parts are the items of the work breakdown and
 * behind them the tasks, and are told by their places among all.
 */
export interface Plan {
  ids: readonly string[];
  /** How many of the parts are items. */
  items: number;
  /** By part: the item above, -1 at the top. */
  above: Int32Array;
  /** By part: the day before which it may not start by its own date, as {@link dayNumber} counts; NaN where none is known. */
  starts: Float64Array;
  /** By part: its days by its own dates, as {@link daysBetween} counts; 0 of a milestone. */
  days: Float64Array;
  /** By dependency: the part that has to end, and the one that starts then. */
  preds: Int32Array;
  succs: Int32Array;
}

/** What stands at a place of a plan. */
export const partKind = (plan: Plan, place: number): PlanKind => (place < plan.items ? 'wbs' : 'task');

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
