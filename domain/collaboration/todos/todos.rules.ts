export const recurrenceUnits = ['none', 'days', 'weeks', 'months', 'years'] as const;
export type RecurrenceUnit = (typeof recurrenceUnits)[number];

export const todoStates = ['scheduled', 'open', 'done'] as const;

/** How a to-do recurs. */
export interface Recurrence {
  unit: RecurrenceUnit;
  interval: number;
}

const DAY_MS = 86_400_000;
const LEAD_DAYS: Record<RecurrenceUnit, number> = { none: 0, days: 1, weeks: 2, months: 7, years: 14 };
const UNIT_DAYS: Record<RecurrenceUnit, number> = { none: 0, days: 1, weeks: 7, months: 30, years: 365 };

const parse = (date: string): Date => new Date(`${date}T00:00:00Z`);
const format = (date: Date): string => date.toISOString().slice(0, 10);
const daysAfter = (date: string, days: number): Date => new Date(parse(date).getTime() + days * DAY_MS);
const LAST_YEAR = 9999;

/** The day of the month of a date. */
const dayOf = (date: string): number => parse(date).getUTCDate();

/** The day of the month of a monthly or yearly series; null for others and without a due date. */
export const seriesDay = (unit: RecurrenceUnit, due: string | null): number | null =>
  due !== null && (unit === 'months' || unit === 'years') ? dayOf(due) : null;

/** The default number of days before the due date at which a to-do opens: at most half of its interval. */
export function defaultLead({ unit, interval }: Recurrence): number {
  return Math.min(LEAD_DAYS[unit], Math.floor((UNIT_DAYS[unit] * interval) / 2));
}

/**
 * The next due date of a recurring to-do. In a month that is too short for `day` it is the last day of the month: 31 January,
 * 28 February, 31 March. Null after the year 9999.
 * @param due `YYYY-MM-DD`
 * @param day the day of the month of the series
 */
export function nextDue(due: string, recurrence: Recurrence, day = dayOf(due)): string | null {
  const next = nextDate(due, recurrence, day);
  return next.getUTCFullYear() > LAST_YEAR ? null : format(next);
}

function nextDate(due: string, { unit, interval }: Recurrence, day: number): Date {
  if (unit === 'days') return daysAfter(due, interval);
  if (unit === 'weeks') return daysAfter(due, interval * 7);
  const from = parse(due);
  const months = from.getUTCMonth() + (unit === 'years' ? 12 : 1) * interval;
  const last = new Date(Date.UTC(from.getUTCFullYear(), months + 1, 0)).getUTCDate();
  return new Date(Date.UTC(from.getUTCFullYear(), months, Math.min(day, last)));
}

/** The status of a to-do on a day: open without a due date, or when its lead time has begun. */
export function statusOn(today: string, due: string | null, leadDays: number): 'open' | 'scheduled' {
  return due === null || format(daysAfter(due, -leadDays)) <= today ? 'open' : 'scheduled';
}
