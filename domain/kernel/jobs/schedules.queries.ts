import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { requirePermission } from '../permissions/policy.ts';

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
  defaultDir: 'asc',
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
  const text = await scheduleText(ctx.db, key);
  if (text === undefined) throw notFound('schedule', key);
  return text;
}

/** The text in which a schedule is answered. */
export async function scheduleText(sql: Sql, key: string): Promise<JsonText | undefined> {
  const members = Object.entries(scheduleList.members).map(([name, member]) => `'${name}', ${member}`);
  const { rows } = await sql.raw(
    `select json_build_object(${members.join(', ')})::text as schedule from job_schedules s where s.key = ?`,
    [key],
  );
  return rows[0]?.schedule;
}
