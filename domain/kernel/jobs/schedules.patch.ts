import { invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import type { Change } from '../events/events.types.ts';
import { requirePermission } from '../permissions/policy.ts';
import { scheduleFaults } from './schedules.check.ts';
import { SCHEDULES_CHANNEL } from './schedules.fire.ts';
import { scheduleText } from './schedules.queries.ts';

export interface SchedulePatch {
  /** Five fields. */
  cron?: string;
  /** IANA name. */
  time_zone?: string;
  enabled?: boolean;
}

/**
 * Changes when a schedule fires. Slots before the change are not made up for.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `precondition_failed`.
 */
export async function patchSchedule(ctx: Ctx, key: string, patch: SchedulePatch): Promise<void> {
  requirePermission(ctx.caller, 'admin.settings');
  await command(ctx, async ({ sql, emit }) => {
    const before = await sql('job_schedules').where({ key }).forUpdate().first();
    if (!before) throw notFound('schedule', key);
    checkIfMatch(ctx, (await scheduleText(sql, key))!);
    const cron = patch.cron?.trim().replace(/\s+/g, ' ') ?? before.cron;
    const timeZone = patch.time_zone ?? before.time_zone;
    const faults = scheduleFaults(cron, timeZone);
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
    await sql.raw(`select pg_notify(?, '')`, [SCHEDULES_CHANNEL]);
    emit({ event_type: 'schedule.changed', data: { key, changes } });
  });
}
