export const recurrenceUnits = ['none', 'days', 'weeks', 'months', 'years'] as const;
export type RecurrenceUnit = (typeof recurrenceUnits)[number];

export const todoStates = ['scheduled', 'open', 'done'] as const;
export type TodoStatus = (typeof todoStates)[number];

/** How a to-do comes again. */
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
/** Dates have years of four digits. */
const LAST_YEAR = 9999;

/** The day of the month of a date. */
export const dayOf = (date: string): number => parse(date).getUTCDate();

/** How many days before it is due a to-do opens, unless told: at most half of its interval. */
export function defaultLead({ unit, interval }: Recurrence): number {
  return Math.min(LEAD_DAYS[unit], Math.floor((UNIT_DAYS[unit] * interval) / 2));
}

/**
 * When a recurring to-do is due again. Where a month is too short for the day, it is its last one, and `day` brings it
 * back afterwards: from 31 January monthly to 28 February and 31 March. Null at the end of the calendar.
 * @param due `YYYY-MM-DD`
 * @param day the day of the month that the series keeps to
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

/** Whether a to-do that is due then is open, or still scheduled, on the day. One without a date is open. */
export function statusOn(today: string, due: string | null, leadDays: number): 'open' | 'scheduled' {
  return due === null || format(daysAfter(due, -leadDays)) <= today ? 'open' : 'scheduled';
}
