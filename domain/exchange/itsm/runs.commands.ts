import type { Knex } from 'knex';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { OwnerRefused } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { columnMembers } from '../../kernel/lists/lists.run.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { loadAlertRecipients, pauseConnection, requireRunRights } from './itsm.load.ts';
import { Run, type RunRow, type RunStage, type RunStats, type RunTrigger } from './itsm.model.ts';
import type { SyncDirection } from './mappings.types.ts';
import { clearDue } from './runs.due.ts';
import { itsmRunJob } from './runs.job.ts';

/** The parameters of a new run. */
export interface RunRequest {
  mappingId: string;
  trigger: RunTrigger;
  /** Default: the direction of the mapping. */
  direction?: SyncDirection;
  /** Whether the run is a full read; default: whether the last full read is too old. */
  complete?: boolean;
  /** Apply the plan without review; default: the setting of the mapping. */
  autoApply?: boolean;
  /** Start only if a deferred scheduled run is still due. */
  ifDue?: boolean;
}

interface MappingToRun {
  connection_id: string;
  sync_direction: SyncDirection;
  auto_apply: boolean;
  is_active: boolean;
  connection_active: boolean;
  due: boolean;
  /** A delta is not sufficient. */
  needs_complete: boolean;
}

/**
 * Starts a run of a mapping. If the mapping has an open run:
 * - a manual run supersedes a plan in review, and is refused while a run is queued or running;
 * - a scheduled run is deferred until the open run has ended;
 * - a run for changes in the inventory does not start.
 *
 * If the owner of the connection lacks a permission, a run that was not started manually pauses the connection.
 * @returns the run's id; null when it did not start because of the open run.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` if the mapping or its connection is paused, the mapping has
 *   another direction, or a run is queued or running.
 */
export async function startRun(ctx: Ctx, request: RunRequest): Promise<string | null> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  try {
    return await queueRun(ctx, request);
  } catch (error) {
    if (request.trigger === 'manual' || !(error instanceof OwnerRefused)) throw error;
    await command(ctx, (work) => pauseConnection(work, request.mappingId, error));
    throw new EstateError('wrong_state', `${error.message} The connection is paused.`, { cause: error });
  }
}

async function queueRun(ctx: Ctx, request: RunRequest): Promise<string | null> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const { mappingId, trigger } = request;
    const mapping = await lockMapping(sql, mappingId, request.direction);
    const direction = request.direction ?? mapping.sync_direction;
    requireRunnable(mapping, mappingId, direction);
    if (request.ifDue && !mapping.due) return null;
    await requireRunRights(ctx, work, mapping.connection_id, mappingId, direction);
    if (!(await supersedeOpenPlan(ctx, work, mappingId, trigger))) return null;
    // it also does the work of the deferred scheduled run
    if (mapping.due && direction === mapping.sync_direction) await clearDue(sql, mappingId);
    return await insertRun(ctx, work, {
      connection_id: mapping.connection_id,
      mapping_id: mappingId,
      direction,
      trigger,
      stage: 'read',
      complete: mapping.needs_complete || (request.complete ?? false),
      auto_apply: request.autoApply ?? mapping.auto_apply,
    });
  });
}

/** @param direction of the requested run; default: the direction of the mapping. */
export async function lockMapping(sql: Sql, id: string, direction?: SyncDirection): Promise<MappingToRun> {
  const rows = await query(sql)
    .rows`select m.connection_id, m.sync_direction, m.auto_apply, m.is_active, c.is_active as connection_active, m.due_at is not null as due,
       ${embed(needsFullRead('coalesce(a.direction, m.sync_direction)'))} as needs_complete
     from itsm_mappings m join itsm_connections c on c.id = m.connection_id
     cross join (select ${direction ?? null}::text as direction) a
     left join itsm_sync_states b on b.mapping_id = m.id
     where m.id = ${id} for no key update of m`;
  if (!rows[0]) throw notFound('mapping', id);
  return rows[0];
}

export function requireRunnable(mapping: MappingToRun, id: string, direction: SyncDirection): void {
  const extra = { mapping_id: id };
  if (!mapping.connection_active)
    throw new EstateError('wrong_state', 'The connection is paused.', { extra });
  if (!mapping.is_active) throw new EstateError('wrong_state', 'The mapping is paused.', { extra });
  if (mapping.sync_direction !== 'bidirectional' && mapping.sync_direction !== direction) {
    throw new EstateError('wrong_state', `The mapping only allows ${mapping.sync_direction}.`, { extra });
  }
}

/** Ensures that a mapping has at most one open run. @returns false when the new run must not start now. */
export async function supersedeOpenPlan(
  ctx: Ctx,
  work: Work,
  mappingId: string,
  trigger: RunRequest['trigger'],
): Promise<boolean> {
  const rows = await query(work.sql)
    .rows`select r.id, r.status, r.stage, j.status in ('failed', 'cancelled') as job_ended
     from itsm_runs r left join jobs j on j.id = r.job_id
     where r.mapping_id = ${mappingId} and r.status in ('queued', 'running', 'review') for update of r`;
  const [other] = rows;
  if (!other) return true;
  const completed_at = work.sql.raw('clock_timestamp()');
  if (other.status !== 'review' && other.job_ended) {
    // its job was ended without the run, for example cancelled as a job
    await changeRun(work, other.id, 'itsm_run.cancelled', { status: 'cancelled', completed_at });
    return true;
  }
  if (trigger === 'schedule') await markDue(work.sql, mappingId, other);
  if (trigger === 'schedule' || trigger === 'changes') return false;
  if (other.status !== 'review') {
    throw new EstateError('wrong_state', 'A run of the mapping is queued or running.', {
      extra: { mapping_id: mappingId, run_id: other.id },
    });
  }
  await endRejectedRows(work.sql, other.id);
  await changeRun(work, other.id, 'itsm_run.superseded', { status: 'superseded', completed_at });
  ctx.log.info({ run: other.id }, 'a new run superseded the plan');
  return true;
}

/** Marks a scheduled run as deferred, and logs that in the open run. */
async function markDue(sql: Sql, mappingId: string, other: { id: string; stage: RunStage }): Promise<void> {
  const rows = await query(sql)
    .rows`update itsm_mappings set due_at = date_trunc('milliseconds', clock_timestamp()) where id = ${mappingId} and due_at is null
     returning id`;
  if (!rows[0]) return;
  const message = 'A scheduled run is due. It starts when this run has ended.';
  await logRun(sql, other.id, other.stage, 'info', message);
}

/** An SQL expression of {@link isLastFullReadByPush} over a sync state `b`. */
const isLastFullReadByPushSql =
  "coalesce(b.pushed_read_at > coalesce(b.complete_read_at, timestamptz '-infinity'), false)";

/**
 * Cards without a record that may get one now: new ones, those that were changed after the remote refused them, and those whose
 * record a user rejected in the last run. When earlier runs skipped records without a card, only a full read can find out whether
 * one of those records belongs to such a card.
 */
const hasNewCards = `(exists (
  select from events e join cards c on c.id = e.card_id and c.type = m.card_type_key and c.status = 'ACTIVE'
  where e.position > b.local_position and e.card_type = m.card_type_key
    and (e.event_type in ('card.created', 'card.restored') or exists (
      select from itsm_plan_rows r join itsm_runs u on u.id = r.run_id and u.mapping_id = m.id
      where r.card_id = c.id and r.action = 'create' and r.side = 'remote' and r.progress = 'refused'))
    and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id))
  or exists (
    select from itsm_plan_rows r join cards c on c.id = r.card_id and c.status = 'ACTIVE'
    where r.run_id = (select u.id from itsm_runs u where u.mapping_id = m.id and u.status = 'completed'
        order by u.created_at desc limit 1)
      and r.action = 'create' and r.side = 'remote' and r.approval = 'rejected'
      and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id)))`;

const isFresh = (readAt: string): string =>
  `coalesce(${readAt} >= now() - make_interval(hours => m.complete_every_hours), false)`;

/**
 * An SQL expression over a mapping `m` and its sync state `b`: whether a run needs a full read. Runs in one direction also
 * use what runs in both directions have read.
 * @param direction an SQL expression for the direction of the run.
 */
const needsFullRead = (direction: string): string => `coalesce(case
  when ${direction} = m.sync_direction then b.watermark is null or b.local_position is null
    or not ${isFresh('b.complete_read_at')} or (m.sync_direction = 'push' and ${hasNewCards})
  when ${direction} = 'pull' then b.watermark is null
    or not ${isFresh('greatest(b.complete_read_at, b.pulled_read_at)')}
  when ${isLastFullReadByPushSql} then b.pushed_watermark is null or b.local_position is null
    or not ${isFresh('b.pushed_read_at')} or ${hasNewCards}
  else b.watermark is null or b.local_position is null or not ${isFresh('b.complete_read_at')} end, true)`;

const runColumns = Object.entries(columnMembers('r', Run)).map(([column, value]) => `${value} as ${column}`);

/** Loads a run. @throws EstateError `not_found`. */
export async function loadRun(sql: Sql, id: string, lock: '' | 'for update' = ''): Promise<RunRow> {
  const row = await query(sql)
    .row<RunRow>`select ${embed(runColumns.join(', '))} from itsm_runs r where r.id = ${id} ${embed(lock)}`;
  if (!row) throw notFound('run', id);
  return row;
}

/** Columns that events do not contain. */
const unrecorded = ['mapping', 'checkpoint', 'closing', 'plan_made_at', 'stats', 'remote_calls'];

/** Columns of a run that changes with an event set. */
type RunChange = { [C in keyof RunRow]?: RunRow[C] | Knex.Raw };

/** Updates a run and emits the event. The given stats are merged into the stored ones. */
export async function changeRun(
  { sql, emit }: Pick<Work, 'sql' | 'emit'>,
  id: string,
  event: EventType,
  change: RunChange,
  stats: RunStats = {},
  more: Record<string, unknown> = {},
): Promise<void> {
  const before = await loadRun(sql, id);
  await sql('itsm_runs')
    .where({ id })
    .update({ ...change, stats: sql.raw('stats || ?::jsonb', [JSON.stringify(stats)]) });
  const after = await loadRun(sql, id);
  emit({ event_type: event, data: { id, ...more, changes: rowChanges(before, after, unrecorded) } });
  if (before.status !== after.status) await emitAlert({ sql, emit }, after);
}

/** Inserts a queued run with its event, and its job. @returns its id. */
export async function insertRun(ctx: Ctx, work: Work, values: Record<string, unknown>): Promise<string> {
  const { sql, emit } = work;
  const row = { ...values, status: 'queued', created_by: ctx.caller.userId };
  const [{ id }] = await sql('itsm_runs').insert(row).returning('id');
  emit({
    event_type: 'itsm_run.started',
    data: { id, changes: rowChanges(null, await loadRun(sql, id), unrecorded) },
  });
  const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: id });
  await sql('itsm_runs').where({ id }).update({ job_id });
  return id;
}

/** Adds a line to a run's log. */
export async function logRun(
  sql: Sql,
  runId: string,
  stage: RunStage,
  level: 'info' | 'warning' | 'error',
  message: string,
): Promise<void> {
  await sql('itsm_run_log').insert({ run_id: runId, stage, level, message });
}

/** @throws EstateError `wrong_state` unless the run has one of the statuses. */
export function requireStatus(run: Pick<RunRow, 'id' | 'status'>, ...allowed: RunRow['status'][]): void {
  if (allowed.includes(run.status)) return;
  throw new EstateError('wrong_state', `The run is ${run.status}, not ${allowed.join(' or ')}.`, {
    extra: { run_id: run.id, run_status: run.status },
  });
}

/** The shortest time between two alerts about a mapping. */
const ALERT_INTERVAL = '1 day';

/**
 * Notifies the owner of a mapping when its runs fail or need a decision, and again each day while they do. Also notifies when a
 * run succeeds and nothing needs a decision any more.
 */
async function emitAlert({ sql, emit }: Pick<Work, 'sql' | 'emit'>, run: RunRow): Promise<void> {
  if (run.mapping_id === null) return;
  const alert = await findAlert(sql, run);
  if (alert === undefined) return;
  const isProblem = alert !== null;
  const mapping = await query(sql).row<{
    created_by: string | null;
    old_notified_at: string;
    notified_at: string;
  }>`update itsm_mappings m set notified_at = case when ${isProblem} then date_trunc('milliseconds', clock_timestamp()) end
     from itsm_mappings b where m.id = ${run.mapping_id} and b.id = m.id and case when ${isProblem}
       then m.notified_at is null or m.notified_at <= now() - interval '${embed(ALERT_INTERVAL)}'
       else m.notified_at is not null end
     returning m.id, m.connection_id, m.card_type_key, m.remote_table, m.created_by,
       utc(b.notified_at) as old_notified_at, utc(m.notified_at) as notified_at`;
  if (!mapping) return;
  const { created_by, old_notified_at, notified_at, ...facts } = mapping;
  emit({
    event_type: alert === null ? 'itsm_mapping.recovered' : 'itsm_mapping.alerted',
    data: {
      ...facts,
      run_id: run.id,
      ...(alert ?? {}),
      recipients: await loadAlertRecipients(sql, created_by),
      changes: { notified_at: { old: old_notified_at, new: notified_at } },
    },
  });
}

interface Alert {
  kind: 'failed' | 'stopped' | 'review' | 'questions';
  reason: string;
}

/** The alert about a run; null: the mapping has recovered; undefined: nothing to report. */
async function findAlert(sql: Work['sql'], run: RunRow): Promise<Alert | null | undefined> {
  if (run.status === 'failed') return { kind: 'failed', reason: run.error_message ?? 'The run failed.' };
  if (run.status === 'review') {
    if (run.stopped !== null) return { kind: 'stopped', reason: run.stopped };
    // the user who started the run looks at its plan anyway
    if (run.trigger === 'manual') return undefined;
    return { kind: 'review', reason: 'The plan of a run needs review.' };
  }
  if (run.status !== 'completed') return undefined;
  const count = await query(sql)
    .value<number>`select count(*) from itsm_review_items where mapping_id = ${run.mapping_id}`;
  if (count === 0) return null;
  const what = count === 1 ? '1 review item needs' : `${count} review items need`;
  return { kind: 'questions', reason: `${what} a decision: conflicts or uncertain matches.` };
}

/** Ends the rejected rows of a run that leaves the review. */
export async function endRejectedRows(sql: Work['sql'], runId: string): Promise<void> {
  await sql('itsm_plan_rows')
    .where({ run_id: runId, progress: 'pending', approval: 'rejected' })
    .update({ progress: 'skipped', ended_at: sql.raw('clock_timestamp()') });
}

/** The status of a run that ends early. */
type Abort = { status: 'cancelled' } | { status: 'failed'; error_code: string; error_message: string };

/**
 * Ends a run early. Applied rows stay applied. The next run reads the records again whose rows were being written or, in an undo
 * run, were undone.
 */
export async function abortRun(
  work: Pick<Work, 'sql' | 'emit'>,
  run: Pick<RunRow, 'id' | 'mapping_id'>,
  end: Abort,
): Promise<void> {
  const { sql } = work;
  await query(sql).run`update itsm_sync_states b set again = array(select distinct unnest(b.again || array(
       select p.remote_id from itsm_plan_rows p join itsm_runs r on r.id = p.run_id
       where r.id = ${run.id} and p.remote_id is not null
         and (p.progress = 'started' or (r.trigger = 'undo' and p.progress = 'applied')))))
     where b.mapping_id = ${run.mapping_id}`;
  await sql('itsm_run_records').where({ run_id: run.id }).delete();
  await endRejectedRows(sql, run.id);
  const event = `itsm_run.${end.status}` as const;
  await changeRun(work, run.id, event, { ...end, completed_at: sql.raw('clock_timestamp()') });
}
