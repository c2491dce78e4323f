import { CronExpressionParser } from 'cron-parser';
import { validateDetailed } from 'node-cron';
import { type Db, inTransaction, query, type Sql } from '../../../platform/database.ts';
import { type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import { type Ctx, checkIfMatch } from '../context.ts';
import type { Change } from '../events/row-changes.ts';
import { defineList } from '../lists/lists.define.ts';
import { readItem } from '../lists/lists.run.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { requirePermission } from '../permissions/policy.ts';
import { JOBS_CHANNEL, type JobRights } from './jobs.enqueue.ts';

/** Notifies schedulers that a schedule has changed. */
export const SCHEDULES_CHANNEL = 'estate_schedules';

export interface Schedule {
  key: string;
  kind: string;
  cron: string;
  timeZone: string;
  /** The last fired slot or the last change: earlier slots are not fired any more. */
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

/** Inserts a built-in schedule; changes by users are preserved. */
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

/** The enabled schedules. */
export async function activeSchedules(sql: Sql): Promise<Schedule[]> {
  return await query(sql).rows`select key, kind, cron, time_zone as "timeZone",
    greatest(last_slot, updated_at) as after
     from job_schedules where enabled order by key`;
}

/**
 * Starts the job of the latest due slot that has not been fired, so that missed slots are fired once. Any number of
 * schedulers may call it concurrently: only one of them fires a slot.
 * @returns the slot that was fired by this call.
 */
export async function fireIfDue(db: Db, key: string, now: Date): Promise<Date | undefined> {
  return await inTransaction(db, async (sql) => {
    const rows = await query(sql).rows`select kind, queue, payload, cron, time_zone,
      greatest(last_slot, updated_at) as after
       from job_schedules where key = ${key} and enabled for update`;
    const schedule = rows[0];
    if (!schedule) return undefined;
    const slot = dueSlot(schedule.cron, schedule.time_zone, schedule.after, now);
    if (!slot) return undefined;
    await sql('job_schedules').where({ key }).update({ last_slot: slot });
    const rights: JobRights = { permissions: '*' };
    await query(sql).run`with job as (
         insert into jobs (kind, queue, payload, rights, schedule_key, slot)
         values (${schedule.kind}, ${schedule.queue}, ${JSON.stringify(schedule.payload)},
         ${JSON.stringify(rights)}, ${key}, ${slot})
         on conflict (schedule_key, slot) where schedule_key is not null do nothing returning id
       ) select pg_notify(${JOBS_CHANNEL}, '') from job`;
    return slot;
  });
}

/**
 * The latest time after `after`, and not after `now`, that matches the expression; undefined if there is none. All
 * schedulers determine slots with this function. A local time that is skipped when daylight saving time starts counts
 * an hour later; one that is repeated when it ends counts once.
 */
export function dueSlot(cron: string, timeZone: string, after: Date, now: Date): Date | undefined {
  const from = (currentDate: Date) => CronExpressionParser.parse(cron, { tz: timeZone, currentDate });
  const first = from(after).next().toDate();
  if (first > now) return undefined;
  // Walking backwards misses skipped times and finds repeated ones twice: step back, then forward again.
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

/** The next time after `after` that matches. */
export function nextSlot(cron: string, timeZone: string, after: Date): Date {
  return CronExpressionParser.parse(cron, { tz: timeZone, currentDate: after }).next().toDate();
}

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'];

/** What a field may contain besides `*`, lists, ranges and steps. */
const RANGES: Readonly<Record<string, string>> = {
  minute: '0 to 59',
  hour: '0 to 23',
  'day of month': '1 to 31',
  month: '1 to 12 or a name such as jan',
  'day of week': '0 to 7 or a name such as mon',
};

/** The errors of a schedule's cron expression and time zone. */
export function scheduleErrors(cron: string, timeZone: string): FieldError[] {
  const errors = [...cronErrors(cron), ...timeZoneErrors(timeZone)];
  if (errors.length > 0) return errors;
  try {
    nextSlot(cron, timeZone, new Date());
    return [];
  } catch (error) {
    return [
      { field: 'cron', code: 'bad_cron', message: `"${cron}" never comes: ${(error as Error).message}` },
    ];
  }
}

function cronErrors(cron: string): FieldError[] {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== FIELDS.length || cron.includes('@')) {
    const message = `"${cron}" is no cron expression of five fields: ${FIELDS.join(', ')}`;
    return [{ field: 'cron', code: 'bad_cron', message }];
  }
  const { errors } = validateDetailed(cron.trim());
  return errors.map(({ field, value }) => {
    const name = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const range = RANGES[name] ? `, which takes ${RANGES[name]}` : '';
    return { field: 'cron', code: 'bad_cron', message: `"${value ?? cron}" is not valid as ${name}${range}` };
  });
}

/** The error of a name that is not an IANA time zone, as the field `time_zone`. */
export function timeZoneErrors(timeZone: string): FieldError[] {
  try {
    // An offset such as +02:00 is not a time zone: it has no daylight saving time.
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
    return [];
  } catch {
    const message = `"${timeZone}" is no IANA time zone such as Europe/Berlin or UTC`;
    return [{ field: 'time_zone', code: 'bad_time_zone', message }];
  }
}

interface SchedulePatch {
  /** Five fields. */
  cron?: string;
  /** IANA name. */
  time_zone?: string;
  enabled?: boolean;
}

/**
 * Changes when a schedule fires. Times that were due before the change are not fired later.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `precondition_failed`.
 */
export async function patchSchedule(ctx: Ctx, key: string, patch: SchedulePatch): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.settings');
  return await command(ctx, async ({ sql, emit }) => {
    const before = await sql('job_schedules').where({ key }).forUpdate().first();
    if (!before) throw notFound('schedule', key);
    checkIfMatch(ctx, await scheduleText(sql, key));
    const cron = patch.cron?.trim().replace(/\s+/g, ' ') ?? before.cron;
    const timeZone = patch.time_zone ?? before.time_zone;
    const errors = scheduleErrors(cron, timeZone);
    if (errors.length > 0) throw invalidFields(errors);
    const values = { cron, time_zone: timeZone, enabled: patch.enabled ?? before.enabled };
    const changes: Record<string, Change> = {};
    for (const [field, value] of Object.entries(values)) {
      if (value !== before[field]) changes[field] = { old: before[field], new: value };
    }
    if (Object.keys(changes).length > 0) {
      await sql('job_schedules')
        .where({ key })
        .update({ ...values, updated_at: sql.fn.now() });
      await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
      emit({ event_type: 'schedule.changed', data: { key, changes } });
    }
    return await scheduleText(sql, key);
  });
}

/** The schedules by which jobs are started. */
export const scheduleList = defineList({
  name: 'job-schedules',
  permission: 'admin.settings',
  from: 'job_schedules s',
  id: 's.key',
  idType: 'text',
  sorts: {
    key: { sql: 's.key', type: 'text', immutable: true },
    kind: { sql: 's.kind', type: 'text', immutable: true },
    last_slot: { sql: 's.last_slot', type: 'timestamptz' },
  },
  defaultSort: 'key',
  members: {
    key: 's.key',
    kind: 's.kind',
    cron: 's.cron',
    time_zone: 's.time_zone',
    enabled: 's.enabled',
    last_slot: 'utc(s.last_slot)',
    created_at: 'utc(s.created_at)',
    updated_at: 'utc(s.updated_at)',
  },
});

/** A schedule as its JSON text. @throws EstateError `not_found`. */
const scheduleText = (sql: Sql, key: string): Promise<JsonText> =>
  readItem(sql, scheduleList, 'schedule', key);
