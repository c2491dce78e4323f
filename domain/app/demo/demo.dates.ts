import type { DemoDay, MonthsFromToday } from './demo.types.ts';

/**
 * The ISO date that is `months` after `today` (an ISO date). The day is limited to the last of the target month, so
 * that 31 January plus one month is the end of February.
 */
export function addMonths(today: string, months: number): string {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number];
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(day, lastDay));
  return first.toISOString().slice(0, 10);
}

export const resolveDay = (today: string, day: DemoDay): string =>
  typeof day === 'number' ? addMonths(today, day) : day;

export const isMonthsFromToday = (value: unknown): value is MonthsFromToday =>
  typeof value === 'object' && value !== null && typeof (value as MonthsFromToday).months === 'number';
