import { type Db, inTransaction, type Sql } from '../../../platform/database.ts';
import { JOBS_CHANNEL, type JobRights } from './jobs.enqueue.ts';
import { dueSlot } from './schedules.slots.ts';

/** Tells schedulers that a schedule has changed. */
export const SCHEDULES_CHANNEL = 'estate_schedules';

export interface Schedule {
  key: string;
  kind: string;
  cron: string;
  timeZone: string;
  /** Slots up to here are done, or are not to be made up for: the last one fired, or the last change. */
  after: Date;
}

export interface BuiltInSchedule {
  key: string;
  kind: string;
  queue: string;
  payload?: Record<string, unknown>;
  cron: string;
  timeZone?: string;
}

/** Adds a schedule that the product comes with; what users have changed of it stays. */
export async function ensureSchedule(sql: Sql, schedule: BuiltInSchedule): Promise<void> {
  await sql('job_schedules')
    .insert({
      key: schedule.key,
      kind: schedule.kind,
      queue: schedule.queue,
      payload: JSON.stringify(schedule.payload ?? {}),
      cron: schedule.cron,
      time_zone: schedule.timeZone ?? 'UTC',
    })
    .onConflict('key')
    .ignore();
}

/** The schedules that are switched on. */
export async function activeSchedules(sql: Sql): Promise<Schedule[]> {
  const { rows } = await sql.raw(
    `select key, kind, cron, time_zone as "timeZone", greatest(last_slot, updated_at) as after
     from job_schedules where enabled order by key`,
  );
  return rows;
}

/**
 * Starts the job of the newest slot that is due and not yet done, so that missed slots are made up for once. Any
 * number of schedulers may call it at the same moment: a slot is fired by one of them.
 * @returns the slot that was fired by this call.
 */
export async function fireIfDue(db: Db, key: string, now: Date): Promise<Date | undefined> {
  return await inTransaction(db, async (sql) => {
    const { rows } = await sql.raw(
      `select kind, queue, payload, cron, time_zone, greatest(last_slot, updated_at) as after
       from job_schedules where key = ? and enabled for update`,
      [key],
    );
    const schedule = rows[0];
    if (!schedule) return undefined;
    const slot = dueSlot(schedule.cron, schedule.time_zone, schedule.after, now);
    if (!slot) return undefined;
    await sql('job_schedules').where({ key }).update({ last_slot: slot });
    const rights: JobRights = { permissions: '*' };
    await sql.raw(
      `with job as (
         insert into jobs (kind, queue, payload, rights, schedule_key, slot) values (?, ?, ?, ?, ?, ?)
         on conflict (schedule_key, slot) where schedule_key is not null do nothing returning id
       ) select pg_notify(?, '') from job`,
      [
        schedule.kind,
        schedule.queue,
        JSON.stringify(schedule.payload),
        JSON.stringify(rights),
        key,
        slot,
        JOBS_CHANNEL,
      ],
    );
    return slot;
  });
}
