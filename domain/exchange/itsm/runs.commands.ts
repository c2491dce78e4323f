import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { OwnerRefused } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL, JOB_STATE_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { MANAGE_SYNC } from './connections.queries.ts';
import { pauseConnection, requireRunRights } from './itsm.load.ts';
import type { RunStage, RunTrigger } from './itsm.model.ts';
import type { SyncDirection } from './mappings.types.ts';
import { clearDue } from './runs.due.ts';
import { itsmRunJob } from './runs.job.ts';
import {
  abortRun,
  changeRun,
  endRejectedRows,
  insertRun,
  loadRun,
  logRun,
  requireStatus,
} from './runs.store.ts';

/**
 * Cancels a run that is queued, running or in review. Applied rows stay applied. The next run reads the record again that was
 * being written. A scheduled run that was deferred until the end of this run is cancelled as well.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`.
 */
export async function cancelRun(ctx: Ctx, runId: string): Promise<void> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  await command(ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    requireStatus(run, 'queued', 'running', 'review');
    await query(sql).run`update jobs set cancel_requested = true,
         status = case status when 'queued' then 'cancelled' else status end,
         finished_at = case status when 'queued' then now() end
       where id = ${run.job_id} and status in ('queued', 'running')`;
    await query(sql)
      .run`select pg_notify(${JOB_CANCEL_CHANNEL}, ${run.job_id ?? ''}), pg_notify(${JOB_STATE_CHANNEL}, ${run.job_id ?? ''})`;
    await abortRun(work, run, { status: 'cancelled' });
    if (run.mapping_id !== null) await clearDue(sql, run.mapping_id);
  });
}

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

/**
 * Checks that an undo run may start, and supersedes a plan in review.
 * @throws EstateError `not_found`, `wrong_state` if the mapping or its connection is paused, or a run is queued or running.
 */
export async function prepareUndo(ctx: Ctx, work: Work, mappingId: string): Promise<void> {
  const mapping = await lockMapping(work.sql, mappingId);
  requireRunnable(mapping, mappingId, mapping.sync_direction);
  await requireRunRights(ctx, work, mapping.connection_id, mappingId, mapping.sync_direction);
  await supersedeOpenPlan(ctx, work, mappingId, 'undo');
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
    const id = await insertRun(work, {
      connection_id: mapping.connection_id,
      mapping_id: mappingId,
      direction,
      trigger,
      status: 'queued',
      stage: 'read',
      complete: mapping.needs_complete || (request.complete ?? false),
      auto_apply: request.autoApply ?? mapping.auto_apply,
      created_by: ctx.caller.userId,
    });
    const { job_id } = await enqueueJob(ctx, work, itsmRunJob, { run_id: id });
    await sql('itsm_runs').where({ id }).update({ job_id });
    return id;
  });
}

/** @param direction of the requested run; default: the direction of the mapping. */
async function lockMapping(sql: Sql, id: string, direction?: SyncDirection): Promise<MappingToRun> {
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

function requireRunnable(mapping: MappingToRun, id: string, direction: SyncDirection): void {
  const extra = { mapping_id: id };
  if (!mapping.connection_active)
    throw new EstateError('wrong_state', 'The connection is paused.', { extra });
  if (!mapping.is_active) throw new EstateError('wrong_state', 'The mapping is paused.', { extra });
  if (mapping.sync_direction !== 'bidirectional' && mapping.sync_direction !== direction) {
    const message = `The mapping only allows ${mapping.sync_direction}.`;
    throw new EstateError('wrong_state', message, { extra });
  }
}

/** Ensures that a mapping has at most one open run. @returns false when the new run must not start now. */
async function supersedeOpenPlan(
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
  await changeRun(work, other.id, 'itsm_run.superseded', {
    status: 'superseded',
    completed_at,
  });
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
