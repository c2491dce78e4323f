import { inTransaction, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { JobStep, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { insertRow, lockRow } from '../../kernel/resources/rows.ts';
import { AnalysisRun, type RunRow } from './runs.model.ts';
import type { AnalysisOutcome } from './runs.types.ts';

type Writing = Pick<Work, 'sql' | 'emit'>;

/** Reads and locks a run. @throws EstateError `not_found`. */
export async function lockRun(sql: Sql, id: string): Promise<RunRow> {
  const row = await lockRow(sql, AnalysisRun, { id });
  if (!row) throw notFound('run', id);
  return row;
}

/** Inserts a run, with its event. @returns its id. */
export async function insertRun({ sql, emit }: Writing, values: Partial<RunRow>): Promise<string> {
  const row = await insertRow(sql, AnalysisRun, values);
  emit({ event_type: 'analysis_run.started', data: { id: row.id, changes: rowChanges(null, row) } });
  return row.id;
}

async function updateRun(
  { sql, emit }: Writing,
  id: string,
  event: EventType,
  change: Record<string, unknown>,
): Promise<void> {
  const before = await lockRun(sql, id);
  await sql('analysis_runs').where({ id }).update(change);
  emit({ event_type: event, data: { id, changes: rowChanges(before, await lockRun(sql, id)) } });
}

/** Reopens a run whose job was retried after its end. */
export async function reopenRun(work: Writing, id: string): Promise<void> {
  await updateRun(work, id, 'analysis_run.started', {
    status: 'running',
    error_code: null,
    error_message: null,
    completed_at: null,
  });
}

/** Completes a run. */
export async function completeRun(
  work: Writing,
  id: string,
  { results, modelVersion = null, modelParts = [] }: AnalysisOutcome,
): Promise<void> {
  await updateRun(work, id, 'analysis_run.completed', {
    status: 'completed',
    results: JSON.stringify(results),
    model_version: modelVersion,
    model_parts: JSON.stringify(modelParts),
    completed_at: work.sql.raw('clock_timestamp()'),
  });
  await deleteParts(work.sql, id);
}

/** Ends a run without results. */
export async function abortRun(
  work: Writing,
  id: string,
  end: { status: 'cancelled' } | { status: 'failed'; error_code: string; error_message: string },
): Promise<void> {
  await updateRun(work, id, `analysis_run.${end.status}`, {
    ...end,
    completed_at: work.sql.raw('clock_timestamp()'),
  });
  await deleteParts(work.sql, id);
}

/** The results of the steps of a run, stored until the run ends. */
export interface RunParts {
  /** The result of a step, packed. */
  read(part: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Stores the packed result of a step, replacing an earlier one, together with the checkpoint of the job. */
  store(part: string, packed: Uint8Array<ArrayBuffer> | null, step: JobStep): Promise<void>;
}

/** @param runId the run that the job executes. */
export function runParts(job: Pick<RunningJob, 'ctx' | 'checkpoint'>, runId: string): RunParts {
  const { db } = job.ctx;
  return {
    async read(part) {
      const row = await db('analysis_parts').where({ run_id: runId, part }).first('content');
      return row?.content ?? null;
    },
    async store(part, packed, step) {
      await inTransaction(db, async (sql) => {
        if (packed)
          await sql('analysis_parts')
            .insert({ run_id: runId, part, content: Buffer.from(packed.buffer) })
            .onConflict(['run_id', 'part'])
            .merge();
        await job.checkpoint({ sql }, step);
      });
    },
  };
}

/** Deletes the parts of a run that has ended. */
async function deleteParts(sql: Sql, runId: string): Promise<void> {
  await sql('analysis_parts').where({ run_id: runId }).delete();
}
