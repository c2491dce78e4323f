import type { Knex } from 'knex';
import { embed, query, queryRow, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { loadAlertRecipients } from './itsm.load.ts';
import { Run, type RunRow, type RunStage, type RunStats, shownRun } from './itsm.model.ts';

const selectRun = `select ${Object.entries(columnMembers('r', Run))
  .map(([column, value]) => `${value} as ${column}`)
  .join(', ')} from itsm_runs r where r.id = ?`;

/** Loads a run. @throws EstateError `not_found`. */
export async function loadRun(sql: Sql, id: string, lock: '' | 'for update' = ''): Promise<RunRow> {
  const row = await queryRow<RunRow>(sql, `${selectRun} ${lock}`, [id]);
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

/** Inserts a run and emits its event. */
export async function insertRun(
  { sql, emit }: Pick<Work, 'sql' | 'emit'>,
  row: Record<string, unknown>,
): Promise<string> {
  const [{ id }] = await sql('itsm_runs').insert(row).returning('id');
  emit({
    event_type: 'itsm_run.started',
    data: { id, changes: rowChanges(null, await loadRun(sql, id), unrecorded) },
  });
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
         and (p.progress = 'begun' or (r.trigger = 'undo' and p.progress = 'applied')))))
     where b.mapping_id = ${run.mapping_id}`;
  await sql('itsm_run_records').where({ run_id: run.id }).delete();
  await endRejectedRows(sql, run.id);
  await changeRun(work, run.id, `itsm_run.${end.status}`, {
    ...end,
    completed_at: sql.raw('clock_timestamp()'),
  });
}

const runListSpec: ListSpec = {
  name: 'itsm-runs',
  from: 'itsm_runs r',
  id: 'r.id',
  sorts: { created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    ...columnMembers('r', shownRun),
    progress: `case when r.status = 'completed' then 1
      else (select j.progress from jobs j where j.id = r.job_id) end`,
    stats: `jsonb_build_object('fetched', 0, 'relations_fetched', 0, 'processed', 0, 'created', 0, 'updated', 0, 'deleted', 0,
      'relations_created', 0, 'relations_deleted', 0, 'skipped', 0, 'errors', 0) || r.stats`,
    planned_at: 'utc(r.plan_made_at)',
  },
};

interface RunFilters {
  connection_id?: string;
  mapping_id?: string;
  status?: string;
  direction?: string;
}

/** Runs, the newest first. @throws EstateError `forbidden`. */
export async function listRuns(ctx: Ctx, params: ListParams & RunFilters): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const { connection_id, mapping_id, status, direction, ...rest } = params;
  const where = equalConditions({
    'r.connection_id': connection_id,
    'r.mapping_id': mapping_id,
    'r.status': status,
    'r.direction': direction,
  });
  return await runList(ctx.db, runListSpec, where, rest, { owner: ctx.caller.userId });
}

/** One run. @throws EstateError `forbidden`, `not_found`. */
export async function readRun(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  return await runText(ctx.db, id);
}

/** One run as JSON, without a permission check. @throws EstateError `not_found`. */
export async function runText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, runListSpec, 'run', id);
}

/** Equality conditions for the given filters. */
export const equalConditions = (members: Record<string, string | undefined>): Condition[] =>
  Object.entries(members).flatMap(([sql, value]) =>
    value === undefined ? [] : [{ sql: `${sql} = ?`, bindings: [value] }],
  );
