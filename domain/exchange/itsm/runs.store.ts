import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { type AlertedRun, noteAlert } from './runs.alerts.ts';
import type { RunRow, RunStage, RunStats } from './runs.types.ts';

const columns = `id, connection_id, mapping_id, job_id, direction, trigger, status, stage, complete, auto_apply,
  mapping, checkpoint, stopped, stopped_overruled_by, closing, utc(plan_made_at) as plan_made_at, stats,
  remote_calls, undo_of, created_by`;

/** A run as it is stored. @throws EstateError `not_found`, also when its mapping is gone. */
export async function loadRun(sql: Sql, id: string, lock: '' | 'for update' = ''): Promise<RunRow> {
  const { rows } = await sql.raw(`select ${columns} from itsm_runs where id = ? ${lock}`, [id]);
  if (!rows[0]) throw notFound('run', id);
  return rows[0];
}

// what an event tells of a run: where it stands, without what it works with
const told = `select id, connection_id, mapping_id, job_id, direction, trigger, status, stage, complete, auto_apply,
    stopped, stopped_overruled_by, error_code, error_message, undo_of, created_by, utc(created_at) as created_at,
    utc(started_at) as started_at, utc(completed_at) as completed_at
  from itsm_runs where id = ?`;

async function tellRun(sql: Sql, id: string): Promise<StoredRow | null> {
  return (await sql.raw(told, [id])).rows[0] ?? null;
}

/** What changes of a run with a step that others are told of. */
export type RunChange = Partial<{
  job_id: string | null;
  status: RunRow['status'];
  stage: RunStage;
  auto_apply: boolean;
  stopped: string | null;
  stopped_overruled_by: string | null;
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
  const before = await tellRun(sql, id);
  await sql('itsm_runs')
    .where({ id })
    .update({ ...change, stats: sql.raw('stats || ?::jsonb', [JSON.stringify(stats)]) });
  const after = await tellRun(sql, id);
  emit({ event_type: event, data: { id, ...more, changes: rowChanges(before, after) } });
  if (after && before?.status !== after.status)
    await noteAlert({ sql, emit }, after as unknown as AlertedRun);
}

/** Stores a new run and tells of it. */
export async function insertRun(
  { sql, emit }: Pick<Work, 'sql' | 'emit'>,
  row: Record<string, unknown>,
): Promise<string> {
  const [{ id }] = await sql('itsm_runs').insert(row).returning('id');
  emit({ event_type: 'itsm_run.started', data: { id, changes: rowChanges(null, await tellRun(sql, id)) } });
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
