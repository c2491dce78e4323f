import { visibleSavedReports } from '../../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { ownRows } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { nextSlot } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { defineList, listFor } from '../../../domain/kernel/lists/lists.define.ts';
import { readItem } from '../../../domain/kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { MASK } from '../../../domain/kernel/settings/settings.read.ts';
import { Choice } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, type Sql } from '../../../platform/database.ts';

/** The permission that schedules require. */
export const SCHEDULE_PERMISSION = 'inventory.export';

// a run whose job was cancelled or has failed has the job's status
const ofRun = {
  status: `case when r.finished_at is not null then r.status else coalesce(j.status, 'failed') end`,
  finished_at: 'utc(coalesce(r.finished_at, j.finished_at))',
  error: 'coalesce(r.error, case when r.finished_at is null then j.error end)',
};

/** The caller's schedules; with `admin.settings` all schedules. */
export const extractionScheduleList = defineList({
  name: 'extraction-schedules',
  permission: SCHEDULE_PERMISSION,
  from: `extraction_schedules e join job_schedules s on s.key = e.schedule_key
    left join users u on u.id = e.owner_id`,
  id: 'e.id',
  sorts: {
    name: { sql: 'lower(e.name)', type: 'text', filled: true },
    created_at: { sql: 'e.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  filters: { status: [Choice(['active', 'paused'], 'Whether it runs'), `s.enabled = (? = 'active')`] },
  members: {
    id: 'e.id',
    name: 'e.name',
    status: `case when s.enabled then 'active' else 'paused' end`,
    paused_reason: 'case when not s.enabled then e.paused_reason end',
    cron: 's.cron',
    time_zone: 's.time_zone',
    request: 'e.request',
    report: 'e.report',
    report_name: (ctx) =>
      fragment`(select s.name from saved_reports s where s.id = (e.report ->> 'saved_report_id')::uuid and ${embed(visibleSavedReports(ctx))})`,
    incremental: 'e.incremental',
    destination: `case when e.destination ->> 'kind' = 's3'
      then e.destination || '{"secret_access_key": "${MASK}"}' else e.destination end`,
    keep_runs: 'e.keep_runs',
    keep_days: 'e.keep_days',
    last_run: `(select json_build_object('id', r.id, 'status', ${ofRun.status}, 'started_at', utc(r.started_at),
        'finished_at', ${ofRun.finished_at}, 'error', ${ofRun.error})
      from extraction_runs r left join jobs j on j.id = r.job_id
      where r.schedule_id = e.id order by r.slot desc limit 1)`,
    // `fillNextRuns` replaces it by the time
    next_run_at: `case when s.enabled then json_build_object('cron', s.cron, 'time_zone', s.time_zone) end`,
    owner_id: 'e.owner_id',
    owner_name: 'u.display_name',
    created_at: 'utc(e.created_at)',
    updated_at: 'utc(greatest(e.updated_at, s.updated_at))',
  },
  search: 'fold(e.name)',
  where: visibleSchedules,
  complete: (_ctx, schedules) => fillNextRuns(schedules),
});

/** Lists the runs of a schedule, newest first. */
export const runHistory = defineList({
  name: 'extraction-runs',
  from: 'extraction_runs r left join jobs j on j.id = r.job_id',
  id: 'r.id',
  sorts: {
    created_at: { sql: 'r.created_at', type: 'timestamptz', immutable: true },
    slot: { sql: 'r.slot', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'r.id',
    schedule_id: 'r.schedule_id',
    job_id: 'r.job_id',
    trigger: 'r.trigger',
    slot: 'utc(r.slot)',
    ...ofRun,
    attempts: 'r.attempts',
    rows: 'r.rows',
    bytes: 'r.bytes',
    sha256: 'r.sha256',
    after: 'r.after_position::text',
    position: 'r.position::text',
    file_name: '(select f.name from files f where f.id = r.file_id)',
    created_at: 'utc(r.created_at)',
    started_at: 'utc(r.started_at)',
    removed_at: 'utc(r.removed_at)',
    links: `json_build_object('file', case when r.file_id is not null and r.removed_at is null
        then '/api/v1/extraction-schedules/' || r.schedule_id || '/runs/' || r.id || '/file' end,
      'manifest', case when r.manifest_id is not null and r.removed_at is null
        then '/api/v1/extraction-schedules/' || r.schedule_id || '/runs/' || r.id || '/manifest' end)`,
  },
  async where(ctx, _params, id) {
    await requireVisible(ctx, id);
    return [fragment`r.schedule_id = ${id}::uuid`];
  },
});

/** Whether the caller may see and change the schedules of others. */
const canSeeAllSchedules = (ctx: Ctx): boolean => may(ctx.caller, 'admin.settings');

/** Conditions on `e` of the schedules that the caller may see: the own ones, or all. */
export function visibleSchedules(ctx: Ctx): Condition[] {
  if (canSeeAllSchedules(ctx)) return [];
  return [ownRows(ctx.caller, 'e')];
}

/** Computes `next_run_at`, since PostgreSQL does not evaluate cron expressions. */
function fillNextRuns<S extends { next_run_at?: { cron: string; time_zone: string } | null }>(
  schedules: S[],
): object[] {
  const now = new Date();
  return schedules.map((schedule) => {
    const by = schedule.next_run_at;
    return by ? { ...schedule, next_run_at: nextSlot(by.cron, by.time_zone, now).toISOString() } : schedule;
  });
}

/** Reads one schedule as JSON, without its secret. @throws EstateError `forbidden`, `not_found`. */
export async function readSchedule(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, SCHEDULE_PERMISSION);
  const list = listFor(ctx, extractionScheduleList);
  const text = await readItem(sql, list, 'extraction schedule', id, visibleSchedules(ctx));
  return JSON.stringify(fillNextRuns([JSON.parse(text)])[0]);
}

/** Reads one run as JSON. @throws EstateError `forbidden`, `not_found`. */
export async function readRun(ctx: Ctx, id: string, runId: string, sql: Sql = ctx.db): Promise<JsonText> {
  await requireVisible(ctx, id, sql);
  return await readItem(sql, runHistory, 'run', runId, [fragment`r.schedule_id = ${id}::uuid`]);
}

/** @throws EstateError `forbidden`, `not_found`. */
export async function requireVisible(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<void> {
  await readSchedule(ctx, id, sql);
}
