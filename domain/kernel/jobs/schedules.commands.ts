import { query, type Sql } from '../../../platform/database.ts';
import { invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import type { Change } from '../events/row-changes.ts';
import { readItem, runList } from '../lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { requirePermission } from '../permissions/policy.ts';
import { SCHEDULES_CHANNEL, scheduleErrors } from './schedules.fire.ts';

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
export async function patchSchedule(ctx: Ctx, key: string, patch: SchedulePatch): Promise<void> {
  requirePermission(ctx.caller, 'admin.settings');
  await command(ctx, async ({ sql, emit }) => {
    const before = await sql('job_schedules').where({ key }).forUpdate().first();
    if (!before) throw notFound('schedule', key);
    checkIfMatch(ctx, await scheduleText(sql, key));
    const cron = patch.cron?.trim().replace(/\s+/g, ' ') ?? before.cron;
    const timeZone = patch.time_zone ?? before.time_zone;
    const faults = scheduleErrors(cron, timeZone);
    if (faults.length > 0) throw invalidFields(faults);
    const values = { cron, time_zone: timeZone, enabled: patch.enabled ?? before.enabled };
    const changes: Record<string, Change> = {};
    for (const [field, value] of Object.entries(values)) {
      if (value !== before[field]) changes[field] = { old: before[field], new: value };
    }
    if (Object.keys(changes).length === 0) return;
    await sql('job_schedules')
      .where({ key })
      .update({ ...values, updated_at: sql.fn.now() });
    await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
    emit({ event_type: 'schedule.changed', data: { key, changes } });
  });
}

const scheduleList: ListSpec = {
  name: 'job-schedules',
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
};

/** The schedules by which jobs are started. */
export async function listSchedules(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.settings');
  return await runList(ctx.db, scheduleList, [], params, { owner: ctx.caller.userId });
}

/** One schedule as JSON. @throws EstateError `not_found`. */
export async function readSchedule(ctx: Ctx, key: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.settings');
  return await scheduleText(ctx.db, key);
}

/** A schedule as its JSON text. @throws EstateError `not_found`. */
const scheduleText = (sql: Sql, key: string): Promise<JsonText> =>
  readItem(sql, scheduleList, 'schedule', key);
