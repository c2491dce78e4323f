import { CronExpressionParser } from 'cron-parser';

/**
 * The newest moment after `after`, and not after `now`, for which the expression stands; undefined when there is
 * none. All schedulers name a slot by this function alone. A local time that a change to summer time leaves out
 * counts as an hour later, one that a change back repeats counts once.
 */
export function dueSlot(cron: string, timeZone: string, after: Date, now: Date): Date | undefined {
  const from = (currentDate: Date) => CronExpressionParser.parse(cron, { tz: timeZone, currentDate });
  const first = from(after).next().toDate();
  if (first > now) return undefined;
  // walking backwards misses left-out times and finds repeated ones twice: step back, and forward again
  const backwards = from(new Date(now.getTime() + 1));
  let start = after;
  for (let step = 0; step < 3; step += 1) start = backwards.prev().toDate();
  const forwards = from(new Date(Math.max(start.getTime() - 1, after.getTime())));
  let newest = first;
  for (;;) {
    const slot = forwards.next().toDate();
    if (slot > now) return newest;
    newest = slot;
  }
}

/** The next moment after `after`. */
export function nextSlot(cron: string, timeZone: string, after: Date): Date {
  return CronExpressionParser.parse(cron, { tz: timeZone, currentDate: after }).next().toDate();
}
