import { throttle } from '../../../domain/access/access.throttle.ts';
import { ownedBy } from '../../../domain/access/jobs.owner.ts';
import { type ExportRequest, scheduledExtractionJob } from '../../../domain/exchange/exports/export.job.ts';
import { command } from '../../../domain/kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../../domain/kernel/context.ts';
import { rowChanges, type StoredRow } from '../../../domain/kernel/events/row-changes.ts';
import { enqueueJob, type StartedJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import { SCHEDULES_CHANNEL, scheduleErrors } from '../../../domain/kernel/jobs/schedules.fire.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { embed, fragment, joinFragments, query, type Sql, setColumns } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { planExtraction } from '../extraction/extraction.plan.ts';
import {
  type DestinationColumns,
  type DestinationTools,
  toColumns,
} from './extraction-schedules.destination.ts';
import { activeJobs, cancelJobs } from './extraction-schedules.jobs.ts';
import {
  readSchedule,
  requireVisible,
  SCHEDULE_PERMISSION,
  visibleSchedules,
} from './extraction-schedules.queries.ts';
import { requireRecipients } from './extraction-schedules.recipients.ts';
import type { ScheduleCreate, SchedulePatch } from './extraction-schedules.types.ts';
import { prepareReport } from './scheduled-report.prepare.ts';
import type { ScheduledReport } from './scheduled-report.types.ts';

const selectStored = `select e.id, e.name, s.cron, s.time_zone, case when s.enabled then 'active' else 'paused' end as status,
    e.paused_reason, e.owner_id, e.request, e.report, e.incremental, e.destination, e.keep_runs, e.keep_days
  from extraction_schedules e join job_schedules s on s.key = e.schedule_key where e.id = ?`;

const keyOf = (id: string): string => `extraction:${id}`;

/**
 * Creates a schedule. Its runs have the caller's current rights, reduced to those that the caller still has at the run.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function createSchedule(
  ctx: Ctx,
  tools: DestinationTools,
  input: ScheduleCreate,
): Promise<JsonText> {
  requirePermission(ctx.caller, SCHEDULE_PERMISSION);
  return await command(ctx, async (work) => {
    const { sql, metamodel } = work;
    const { cron, timeZone } = await check({ ...ctx, metamodel }, input, input);
    const digest = await digestOf({ ...ctx, metamodel }, work, input.report);
    const id = await query(sql).value<string>`select uuidv7()`;
    const { destination, secret } = await toColumns(tools, id, input.destination, undefined);
    await requireRecipients(ctx, sql, destination);
    await sql('job_schedules').insert({
      key: keyOf(id),
      kind: scheduledExtractionJob.kind,
      queue: scheduledExtractionJob.queue,
      payload: JSON.stringify({ schedule_id: id }),
      cron,
      time_zone: timeZone,
    });
    await sql('extraction_schedules').insert({
      id,
      name: input.name.trim(),
      schedule_key: keyOf(id),
      ...ownedBy(ctx.caller),
      request: input.request ? JSON.stringify(input.request) : null,
      report: input.report ? JSON.stringify(input.report) : null,
      report_digest: digest,
      incremental: input.incremental,
      destination: JSON.stringify(destination),
      secret,
      keep_runs: input.keep_runs,
      keep_days: input.keep_days,
    });
    await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
    work.emit({
      event_type: 'extraction_schedule.created',
      data: { id, changes: rowChanges(null, await readStoredRow(work, id)) },
    });
    return await readSchedule(ctx, id, sql);
  });
}

/**
 * Changes a schedule. A caller who changes what is delivered or the destination, or resumes the schedule, becomes its owner:
 * it never runs with the rights of somebody who has not seen what it does. Runs that were due before a change of the time or
 * in a pause are skipped; a pause cancels the run in progress.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchSchedule(
  ctx: Ctx,
  tools: DestinationTools,
  id: string,
  patch: SchedulePatch,
): Promise<JsonText> {
  requirePermission(ctx.caller, SCHEDULE_PERMISSION);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const before = await lock(ctx, work, id);
    checkIfMatch(ctx, await readSchedule(ctx, id, sql));
    const time = await check({ ...ctx, metamodel: work.metamodel }, patch, before);
    const enabled = patch.status === undefined ? before.status === 'active' : patch.status === 'active';
    await setTime(sql, id, before, { ...time, enabled });
    const destination: DestinationColumns | undefined =
      patch.destination === undefined
        ? undefined
        : await toColumns(tools, id, patch.destination, {
            destination: before.destination as never,
            secret: before.secret,
          });
    if (destination) await requireRecipients(ctx, sql, destination.destination);
    const resumes = enabled && before.status === 'paused';
    const content = contentOf(patch);
    const changesOwner =
      (resumes && before.owner_id !== ctx.caller.userId) ||
      content !== undefined ||
      patch.destination !== undefined;
    const report = content ? patch.report : (before.report ?? undefined);
    // whoever resumes it or names what is delivered has seen the saved report
    const looks = changesOwner || resumes;
    const resetsPosition = changesOwner || patch.incremental !== undefined;
    const { secret: _, ...shown } = before;
    const columns = {
      name: patch.name?.trim(),
      ...content,
      ...(looks
        ? { report_digest: await digestOf({ ...ctx, metamodel: work.metamodel }, work, report) }
        : {}),
      incremental: patch.incremental,
      ...(resetsPosition ? { position: null } : {}),
      destination: destination && JSON.stringify(destination.destination),
      secret: destination?.secret,
      ...(changesOwner ? ownedBy(ctx.caller) : {}),
      keep_runs: patch.keep_runs,
      keep_days: patch.keep_days,
      ...(patch.status === 'active' ? { paused_reason: null } : {}),
      ...(patch.status === 'paused' && before.status === 'active'
        ? { paused_reason: 'paused by a user' }
        : {}),
    };
    await setColumns(sql('extraction_schedules').where({ id }), columns);
    if (!enabled && before.status === 'active') await cancelJobs(sql, id);
    const changes = rowChanges(shown, await readStoredRow(work, id));
    const secretChanged = destination !== undefined && destination.secret !== before.secret;
    if (Object.keys(changes).length > 0 || secretChanged) {
      await sql('extraction_schedules').where({ id }).update({ updated_at: sql.fn.now() });
      const data = { id, changes, ...(secretChanged ? { secret_changed: true } : {}) };
      work.emit({ event_type: 'extraction_schedule.updated', data });
    }
    return await readSchedule(ctx, id, sql);
  });
}

/** Sets when a schedule runs, if that is another time than before. */
async function setTime(
  sql: Sql,
  id: string,
  before: { cron: string; time_zone: string; status: string },
  { cron, timeZone, enabled }: { cron: string; timeZone: string; enabled: boolean },
): Promise<void> {
  const isSame =
    cron === before.cron && timeZone === before.time_zone && enabled === (before.status === 'active');
  if (isSame) return;
  await sql('job_schedules')
    .where({ key: keyOf(id) })
    .update({ cron, time_zone: timeZone, enabled, updated_at: sql.fn.now() });
  await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
}

/**
 * Deletes a schedule with its history. Files in the data folder are removed by the next clean-up; those in a bucket or on
 * a server remain. Its run in progress is cancelled.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`.
 */
export async function deleteSchedule(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, SCHEDULE_PERMISSION);
  await command(ctx, async (work) => {
    const { sql } = work;
    const { secret: _, ...before } = await lock(ctx, work, id);
    checkIfMatch(ctx, await readSchedule(ctx, id, sql));
    await query(sql).run`update files set expires_at = now() where id in (
         select unnest(array[file_id, manifest_id]) from extraction_runs where schedule_id = ${id})`;
    await cancelJobs(sql, id);
    await sql('extraction_schedules').where({ id }).delete();
    await sql('job_schedules')
      .where({ key: keyOf(id) })
      .delete();
    await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
    work.emit({ event_type: 'extraction_schedule.deleted', data: { id, changes: rowChanges(before, null) } });
  });
}

/** A requested run and its job. */
export interface StartedRun extends StartedJob {
  run_id: string;
}

/**
 * Runs a schedule now, also a paused one, with its owner's rights.
 * @throws EstateError `forbidden`, `not_found`, `too_many_requests`, `wrong_state` if a run of it is queued or running.
 */
export async function runSchedule(ctx: Ctx, id: string): Promise<StartedRun> {
  await requireVisible(ctx, id);
  return await command(ctx, async (work) => {
    await lock(ctx, work, id);
    if ((await activeJobs(work.sql, id)).length > 0)
      throw new EstateError('wrong_state', 'A run of the schedule is queued or running.');
    await throttle(work.sql, 'extraction', [`user ${ctx.caller.userId}`]);
    const job = await enqueueJob(ctx, work, scheduledExtractionJob, { schedule_id: id });
    const rows = await query(work.sql).rows`insert into extraction_runs (schedule_id, job_id, trigger, slot)
       values (${id}, ${job.job_id}, 'manual', date_trunc('milliseconds', clock_timestamp())) returning id, utc(slot) as slot`;
    const run = rows[0];
    const data = { id: run.id, schedule_id: id, slot: run.slot, extraction_job_id: job.job_id };
    work.emit({ event_type: 'extraction_run.started', data });
    return { ...job, run_id: run.id };
  });
}

/** What a schedule delivers. */
interface Delivered {
  request?: ExportRequest | null;
  report?: ScheduledReport | null;
  incremental?: boolean;
}

type ScheduleRow = StoredRow & {
  cron: string;
  time_zone: string;
  status: string;
  request: ExportRequest | null;
  report: ScheduledReport | null;
  incremental: boolean;
  secret: string | null;
};

/** Locks a schedule that the caller may see. @throws EstateError `not_found`. */
async function lock(ctx: Ctx, work: Work, id: string): Promise<ScheduleRow> {
  const conditions = joinFragments([fragment`e.id = ${id}`, ...visibleSchedules(ctx)], ' and ');
  const rows = await query(work.sql).rows`
    select e.secret from extraction_schedules e join job_schedules s on s.key = e.schedule_key
    where ${embed(conditions)} for update`;
  if (!rows[0]) throw notFound('extraction schedule', id);
  return { ...(await readStoredRow(work, id)), secret: rows[0].secret } as ScheduleRow;
}

async function readStoredRow({ sql }: Work, id: string): Promise<StoredRow> {
  return (await sql.raw(selectStored, [id])).rows[0];
}

/** Checks the input. @returns the resulting cron expression and time zone. */
async function check(
  ctx: Ctx,
  input: SchedulePatch,
  present: Delivered & { cron: string; time_zone: string },
): Promise<{ cron: string; timeZone: string }> {
  if (input.name !== undefined && input.name.trim() === '') {
    throw invalidField('name', 'required', 'must not be blank');
  }
  const cron = (input.cron ?? present.cron).trim().replace(/\s+/g, ' ');
  const timeZone = input.time_zone ?? present.time_zone;
  const errors = scheduleErrors(cron, timeZone);
  if (errors.length > 0) throw invalidFields(errors);
  const { request, report }: Delivered = input.request || input.report ? input : present;
  if (!request === !report) {
    throw invalidField('request', 'required', 'or report is needed, and not both');
  }
  if (report) {
    if (input.incremental ?? present.incremental) {
      throw invalidField('incremental', 'not_offered', 'is only offered for exports');
    }
    return { cron, timeZone };
  }
  if (request!.after !== undefined) {
    throw invalidField('request.after', 'unknown_field', 'is set by each run: use incremental');
  }
  if ((input.incremental ?? present.incremental) && request!.include.length > 0) {
    throw invalidField('request.include', 'not_with_after', 'is not supported with incremental');
  }
  if (input.request !== undefined) {
    await planExtraction(ctx, input.request).catch((error) => {
      if (!(error instanceof EstateError) || !error.errors) throw error;
      throw invalidFields(error.errors.map((one) => ({ ...one, field: `request.${one.field}` })));
    });
  }
  return { cron, timeZone };
}

/** The columns of what is delivered; undefined if the patch leaves it. */
function contentOf({ request, report }: SchedulePatch) {
  if (!request && !report) return undefined;
  return {
    request: request ? JSON.stringify(request) : null,
    report: report ? JSON.stringify(report) : null,
  };
}

/** Checks that the caller may read a saved report. @returns the digest of its content; null without one. */
async function digestOf(
  ctx: Ctx,
  { sql }: Work,
  report: ScheduledReport | undefined,
): Promise<string | null> {
  return report ? (await prepareReport(ctx, report, sql)).saved.digest : null;
}
