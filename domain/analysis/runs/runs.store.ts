import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { dropParts } from './runs.parts.ts';
import type { AnalysisOutcome, RunRow } from './runs.types.ts';

type Writing = Pick<Work, 'sql' | 'emit'>;

/** A run, locked. @throws EstateError `not_found`. */
export async function lockRun(sql: Knex.Transaction, id: string): Promise<RunRow> {
  const row = await sql('analysis_runs')
    .where({ id })
    .forUpdate()
    .first('id', 'analysis_type', 'status', 'parameters', 'job_id', 'created_by');
  if (!row) throw notFound('run', id);
  return row;
}

async function tellRun(sql: Sql, id: string): Promise<StoredRow | null> {
  const { rows } = await sql.raw(
    `select id, analysis_type, status, parameters, model_version, results, model_parts, error_code, error_message,
       job_id, created_by, utc(created_at) as created_at, utc(started_at) as started_at,
       utc(completed_at) as completed_at
     from analysis_runs where id = ?`,
    [id],
  );
  return rows[0] ?? null;
}

/** Stores a new run and tells of it. @returns its id. */
export async function insertRun({ sql, emit }: Writing, row: Record<string, unknown>): Promise<string> {
  const [{ id }] = await sql('analysis_runs').insert(row).returning('id');
  emit({
    event_type: 'analysis_run.started',
    data: { id, changes: rowChanges(null, await tellRun(sql, id)) },
  });
  return id;
}

async function changeRun(
  { sql, emit }: Writing,
  id: string,
  event: EventType,
  change: Record<string, unknown>,
): Promise<void> {
  const before = await tellRun(sql, id);
  await sql('analysis_runs').where({ id }).update(change);
  emit({ event_type: event, data: { id, changes: rowChanges(before, await tellRun(sql, id)) } });
}

/** Takes up a run whose job runs again after it had ended. */
export async function reopenRun(work: Writing, id: string): Promise<void> {
  await changeRun(work, id, 'analysis_run.started', {
    status: 'running',
    error_code: null,
    error_message: null,
    completed_at: null,
  });
}

/** Ends a run well. */
export async function completeRun(
  work: Writing,
  id: string,
  { results, modelVersion = null, modelParts = [] }: AnalysisOutcome,
): Promise<void> {
  await changeRun(work, id, 'analysis_run.completed', {
    status: 'completed',
    results: JSON.stringify(results),
    model_version: modelVersion,
    model_parts: JSON.stringify(modelParts),
    completed_at: work.sql.raw('clock_timestamp()'),
  });
  await dropParts(work.sql, id);
}

/** Ends a run before its end; what it found is not kept. */
export async function breakOffRun(
  work: Writing,
  id: string,
  end: { status: 'cancelled' } | { status: 'failed'; error_code: string; error_message: string },
): Promise<void> {
  await changeRun(work, id, `analysis_run.${end.status}`, {
    ...end,
    completed_at: work.sql.raw('clock_timestamp()'),
  });
  await dropParts(work.sql, id);
}
