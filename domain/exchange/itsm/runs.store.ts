import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { ownersOf } from './mappings.load.ts';

const columns = `id, connection_id, mapping_id, job_id, direction, trigger, status, stage, complete, auto_apply,
  mapping, checkpoint, stopped, limit_overridden_by, closing, utc(plan_made_at) as plan_made_at, stats,
  remote_calls, undo_of, created_by`;

/** A run as it is stored. @throws EstateError `not_found`, also when its mapping is gone. */
export async function loadRun(sql: Sql, id: string, lock: '' | 'for update' = ''): Promise<RunRow> {
  const { rows } = await sql.raw(`select ${columns} from itsm_runs where id = ? ${lock}`, [id]);
  if (!rows[0]) throw notFound('run', id);
  return rows[0];
}

// what an event tells of a run: where it stands, without what it works with
const told = `select id, connection_id, mapping_id, job_id, direction, trigger, status, stage, complete, auto_apply,
    stopped, limit_overridden_by, error_code, error_message, undo_of, created_by, utc(created_at) as created_at,
    utc(started_at) as started_at, utc(completed_at) as completed_at
  from itsm_runs where id = ?`;

async function runEventRow(sql: Sql, id: string): Promise<StoredRow | null> {
  return (await sql.raw(told, [id])).rows[0] ?? null;
}

/** What changes of a run with a step that others are told of. */
type RunChange = Partial<{
  job_id: string | null;
  status: RunRow['status'];
  stage: RunStage;
  auto_apply: boolean;
  stopped: string | null;
  limit_overridden_by: string | null;
  closing: string;
  plan_made_at: Knex.Raw;
  started_at: Knex.Raw;
  completed_at: Knex.Raw | null;
  error_code: string | null;
  error_message: string | null;
}>;

/** Changes a run and tells of it; its counts join those that it has. */
export async function changeRun(
  { sql, emit }: Pick<Work, 'sql' | 'emit'>,
  id: string,
  event: EventType,
  change: RunChange,
  stats: RunStats = {},
  more: Record<string, unknown> = {},
): Promise<void> {
  const before = await runEventRow(sql, id);
  await sql('itsm_runs')
    .where({ id })
    .update({ ...change, stats: sql.raw('stats || ?::jsonb', [JSON.stringify(stats)]) });
  const after = await runEventRow(sql, id);
  emit({ event_type: event, data: { id, ...more, changes: rowChanges(before, after) } });
  if (after && before?.status !== after.status)
    await emitAlert({ sql, emit }, after as unknown as AlertedRun);
}

/** Stores a new run and tells of it. */
export async function insertRun(
  { sql, emit }: Pick<Work, 'sql' | 'emit'>,
  row: Record<string, unknown>,
): Promise<string> {
  const [{ id }] = await sql('itsm_runs').insert(row).returning('id');
  emit({
    event_type: 'itsm_run.started',
    data: { id, changes: rowChanges(null, await runEventRow(sql, id)) },
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

/** @throws EstateError `wrong_state` unless the run stands so. */
export function requireStatus(run: Pick<RunRow, 'id' | 'status'>, ...allowed: RunRow['status'][]): void {
  if (allowed.includes(run.status)) return;
  throw new EstateError('wrong_state', `The run is ${run.status}, not ${allowed.join(' or ')}.`, {
    extra: { run_id: run.id, run_status: run.status },
  });
}

/** Which sides a run may write on. */
export type RunDirection = 'pull' | 'push' | 'bidirectional';

/** What a run was started by. */
export type RunTrigger = 'manual' | 'schedule' | 'changes' | 'undo';

type RunStatus = 'queued' | 'running' | 'review' | 'completed' | 'failed' | 'cancelled' | 'superseded';
export type RunStage = 'read' | 'match' | 'plan' | 'review' | 'apply' | 'verify' | 'done';

/** Figures of a run by name: what was read, what the plan holds, what became of it, and seconds by stage. */
export interface RunStats {
  fetched?: number;
  relations_fetched?: number;
  /** Rows that have ended. */
  processed?: number;
  created?: number;
  updated?: number;
  deleted?: number;
  relations_created?: number;
  relations_deleted?: number;
  /** Relations at records of mappings that do not run now: they are made or taken away once those do. */
  relations_waiting?: number;
  skipped?: number;
  /** Rows of the plan that repeat a question which was open before with the same values. */
  already_open?: number;
  errors?: number;
  /** Rows of the plan by action. */
  planned?: Record<string, number>;
  /** Those of them that were applied. */
  applied?: Record<string, number>;
  /** Rows by how they ended. */
  outcomes?: Record<string, number>;
  /** Things that were not as an applied row should have left them. */
  findings?: number;
  seconds?: Partial<Record<RunStage, number>>;
  /** Requests that the account has left, as the remote told at the end of the last stage; null where it does not tell. */
  budget?: { limit: number; remaining: number; resets_at: string } | null;
}

/** A run as it is stored. */
export interface RunRow {
  id: string;
  connection_id: string;
  mapping_id: string;
  job_id: string | null;
  direction: RunDirection;
  trigger: RunTrigger;
  status: RunStatus;
  stage: RunStage;
  complete: boolean;
  auto_apply: boolean;
  mapping: unknown;
  checkpoint: unknown;
  stopped: string | null;
  limit_overridden_by: string | null;
  closing: unknown;
  /** RFC 3339. */
  plan_made_at: string | null;
  stats: RunStats;
  remote_calls: number;
  undo_of: string | null;
  created_by: string | null;
}

/** The shortest time between two equal alerts. */
const PAUSE = '1 day';

/** A run that has come to a point of which people may have to know. */
interface AlertedRun {
  id: string;
  mapping_id: string | null;
  status: string;
  trigger: string;
  stopped: string | null;
  error_message: string | null;
}

/** What is wrong with the runs of a mapping. */
type AlertKind = 'failed' | 'stopped' | 'review' | 'questions';

/**
 * Notifies the owner of a mapping when its runs fail or wait for a person, and again each day while they do. Also notifies when a
 * run succeeds and nothing is waiting any more.
 */
async function emitAlert({ sql, emit }: Pick<Work, 'sql' | 'emit'>, run: AlertedRun): Promise<void> {
  if (run.mapping_id === null) return;
  const alert = await alertOf(sql, run);
  if (alert === undefined) return;
  const { rows } = await sql.raw(
    alert === null
      ? `update itsm_mappings m set notified_at = null from itsm_mappings b
         where m.id = ? and b.id = m.id and m.notified_at is not null ${answered}`
      : `update itsm_mappings m set notified_at = date_trunc('milliseconds', clock_timestamp()) from itsm_mappings b
         where m.id = ? and b.id = m.id and (m.notified_at is null or m.notified_at <= now() - interval '${PAUSE}') ${answered}`,
    [run.mapping_id],
  );
  const [mapping] = rows;
  if (!mapping) return;
  const { created_by, old_notified_at, notified_at, ...facts } = mapping;
  emit({
    event_type: alert === null ? 'itsm_mapping.recovered' : 'itsm_mapping.alerted',
    data: {
      ...facts,
      run_id: run.id,
      ...(alert ?? {}),
      recipients: await ownersOf(sql, created_by),
      changes: { notified_at: { old: old_notified_at, new: notified_at } },
    },
  });
}

const answered = `returning m.id, m.connection_id, m.card_type_key, m.remote_table, m.created_by,
  utc(b.notified_at) as old_notified_at, utc(m.notified_at) as notified_at`;

interface Alert {
  kind: AlertKind;
  reason: string;
}

/** What is to be told of the run; null: all is well; undefined: nothing new. */
async function alertOf(sql: Work['sql'], run: AlertedRun): Promise<Alert | null | undefined> {
  if (run.status === 'failed') return { kind: 'failed', reason: run.error_message ?? 'The run has failed.' };
  if (run.status === 'review') {
    if (run.stopped !== null) return { kind: 'stopped', reason: run.stopped };
    // who has asked for the run looks at its plan without being told
    if (run.trigger === 'manual') return undefined;
    return { kind: 'review', reason: 'The plan of a run waits for a decision.' };
  }
  if (run.status !== 'completed') return undefined;
  const { rows } = await sql.raw('select count(*) as count from itsm_review_items where mapping_id = ?', [
    run.mapping_id,
  ]);
  const count: number = rows[0].count;
  if (count === 0) return null;
  const what = count === 1 ? '1 question waits' : `${count} questions wait`;
  return { kind: 'questions', reason: `${what} for an answer: conflicts, or which card a record is.` };
}

/** Ends the rows that a person has rejected, once the run can no longer be decided on. */
export async function endRejectedRows(sql: Work['sql'], runId: string): Promise<void> {
  await sql('itsm_plan_rows')
    .where({ run_id: runId, progress: 'pending', approval: 'rejected' })
    .update({ progress: 'skipped', ended_at: sql.raw('clock_timestamp()') });
}

/** How a run ends that has not come to its end. */
type Abort = { status: 'cancelled' } | { status: 'failed'; error_code: string; error_message: string };

/**
 * Ends a run before its end. What it has applied stays applied; a row that was being written is looked at by the next
 * run, and so is what was taken back.
 */
export async function abortRun(
  work: Pick<Work, 'sql' | 'emit'>,
  run: Pick<RunRow, 'id' | 'mapping_id'>,
  end: Abort,
): Promise<void> {
  const { sql } = work;
  await sql.raw(
    `update itsm_sync_states b set again = array(select distinct unnest(b.again || array(
       select p.remote_id from itsm_plan_rows p join itsm_runs r on r.id = p.run_id
       where r.id = ? and p.remote_id is not null
         and (p.progress = 'begun' or (r.trigger = 'undo' and p.progress = 'applied')))))
     where b.mapping_id = ?`,
    [run.id, run.mapping_id],
  );
  await sql('itsm_run_records').where({ run_id: run.id }).delete();
  await endRejectedRows(sql, run.id);
  await changeRun(work, run.id, `itsm_run.${end.status}`, {
    ...end,
    completed_at: sql.raw('clock_timestamp()'),
  });
}
