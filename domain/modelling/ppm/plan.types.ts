import type { TaskRow, WbsRow } from './ppm.model.ts';
import type { PlanKind } from './ppm.types.ts';

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
