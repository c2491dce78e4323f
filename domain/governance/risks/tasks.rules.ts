import { dayOf, defaultLead, type RecurrenceUnit } from '../../collaboration/todos/todos.rules.ts';
import type { OccurrenceStatus } from './risks.types.ts';

/** How many days before it is due a task that does not recur opens, unless told. */
const ONCE_LEAD_DAYS = 14;

/** How many days before it is due an occurrence opens, unless told: for one that recurs at most half of its interval. */
export const defaultTaskLead = (unit: RecurrenceUnit, interval: number): number =>
  unit === 'none' ? ONCE_LEAD_DAYS : defaultLead({ unit, interval });

/** The day of the month that a series keeps to from an occurrence that is due then; null where it keeps to none. */
export const seriesDay = (unit: RecurrenceUnit, due: string | null): number | null =>
  due !== null && (unit === 'months' || unit === 'years') ? dayOf(due) : null;

/** What is done with an occurrence, and from which status that is allowed. */
export const occurrenceActs = {
  promote: { from: 'scheduled', to: 'open' },
  complete: { from: 'open', to: 'done' },
  skip: { from: 'open', to: 'skipped' },
} as const satisfies Record<string, { from: OccurrenceStatus; to: OccurrenceStatus }>;
export type OccurrenceAct = keyof typeof occurrenceActs;
