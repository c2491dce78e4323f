import type { TimeStep } from './charts.types.ts';

const MONTHS: Record<TimeStep, number> = { year: 12, quarter: 3, month: 1 };

/** The start of the time span `count` spans after that of a time, in milliseconds since 1970, UTC. */
export function spanAfter(time: number, step: TimeStep, count: number): number {
  const date = new Date(time);
  const months = MONTHS[step];
  const month = Math.floor(date.getUTCMonth() / months) * months + count * months;
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), month, 1);
  return start.getTime();
}

/** The part of a span that is over at a time: 0 at its start, 1 at its end. */
export const passedPart = (time: number, start: number, step: TimeStep): number =>
  (time - start) / (spanAfter(start, step, 1) - start);

/** Evenly spaced span starts between the first and the last time, up to a maximum number. */
export function spanStarts(
  first: number | undefined,
  last: number | undefined,
  step: TimeStep,
  most: number,
): number[] {
  if (first === undefined || last === undefined) return [];
  const [from, to] = [new Date(first), new Date(last)];
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  const spans = Math.floor(months / MONTHS[step]) + 1;
  const each = Math.ceil(spans / most);
  return Array.from({ length: Math.ceil(spans / each) }, (_, n) => spanAfter(first, step, n * each));
}

/** The label of a span: `2026`, `Q3 2026`, `2026-07`. */
export function formatSpan(time: number, step: TimeStep): string {
  const date = new Date(time);
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  if (step === 'year') return year;
  if (step === 'quarter') return `Q${Math.floor(date.getUTCMonth() / 3) + 1} ${year}`;
  return `${year}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
