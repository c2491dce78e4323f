import { createTask, type ScheduledTask } from 'node-cron';
import {
  activeSchedules,
  fireIfDue,
  SCHEDULES_CHANNEL,
  type Schedule,
} from '../domain/kernel/jobs/schedules.fire.ts';
import type { Db } from '../platform/database.ts';
import type { Logger } from '../platform/logging.ts';
import type { Signals } from '../platform/signals.ts';

/** How soon a slot is fired that no timer has fired, because the process was suspended or the database unavailable. */
const LOOK_MS = 30_000;

export interface Scheduler {
  stop(): Promise<void>;
}

/**
 * Fires the schedules of the database in time. A timer only triggers a check: the row determines which slot is due, and
 * whether another scheduler has fired it.
 */
export function startScheduler({ db, signals, log }: { db: Db; signals: Signals; log: Logger }): Scheduler {
  const timers = new Map<string, { cron: string; timeZone: string; task: ScheduledTask }>();
  const work = new Set<Promise<void>>();
  let stopped = false;

  const track = (job: () => Promise<void>) => {
    if (stopped) return;
    const running = job()
      // The next check fires it.
      .catch((error) => log.warn({ err: error }, 'a schedule could not be evaluated'))
      .finally(() => work.delete(running));
    work.add(running);
  };

  const fire = async (key: string, now: Date) => {
    const slot = await fireIfDue(db, key, now);
    if (slot) log.info({ schedule: key, slot }, 'a schedule has fired');
  };

  const set = (schedule: Schedule) => {
    const { key, cron, timeZone } = schedule;
    const known = timers.get(key);
    if (known?.cron === cron && known.timeZone === timeZone) return;
    void known?.task.destroy();
    const task = createTask(
      cron,
      ({ date }) => track(() => fire(key, new Date(Math.max(Date.now(), date.getTime())))),
      { timezone: timeZone, suppressMissedWarning: true, unref: true },
    );
    void task.start();
    timers.set(key, { cron, timeZone, task });
  };

  const look = async () => {
    const schedules = await activeSchedules(db);
    if (stopped) return;
    const wanted = new Set(schedules.map(({ key }) => key));
    for (const [key, { task }] of timers) {
      if (wanted.has(key)) continue;
      void task.destroy();
      timers.delete(key);
    }
    for (const schedule of schedules) {
      try {
        set(schedule);
        await fire(schedule.key, new Date());
      } catch (error) {
        log.warn({ err: error, schedule: schedule.key }, 'a schedule could not be evaluated');
      }
    }
  };

  const unlisten = signals.on(SCHEDULES_CHANNEL, () => track(look));
  const timer = setInterval(() => track(look), LOOK_MS);
  track(look);

  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      unlisten();
      for (const { task } of timers.values()) await task.destroy();
      timers.clear();
      await Promise.all(work);
    },
  };
}
