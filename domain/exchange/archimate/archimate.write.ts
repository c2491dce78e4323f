import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { FieldError } from '../../../platform/errors.ts';
import type { Work } from '../../kernel/context.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { applyBatch } from '../imports/imports.apply-batches.ts';
import { planStaged } from '../imports/imports.plan.ts';
import { dropPlan } from '../imports/imports.planning.ts';
import type { ImportKind } from '../imports/imports.row.ts';
import { readSource } from '../imports/imports.source.ts';
import { createStager } from '../imports/imports.stage.ts';
import { removeStaged, storeOutcomes, storeRows } from '../imports/imports.staging.ts';
import type { RowOutcome } from '../imports/imports.types.ts';
import type { ArchimateImport } from './archimate.jobs.ts';
import type { ModelRow } from './archimate.rows.ts';

const BATCH_ROWS = 1_000;

/** What a model is written with. */
export interface Importing {
  work: Work;
  job: RunningJob<ArchimateImport>;
  /** Whether an earlier attempt has met a unique index. */
  searchTaken: boolean;
  flush(): Promise<void>;
}

/**
 * Imports rows of one kind in the caller's transaction, by the stages of the import of a file; row `n` is line `n`.
 * @param id under which they are staged.
 */
export async function importRows(
  importing: Importing,
  kind: ImportKind,
  id: string,
  rows: readonly ModelRow[],
): Promise<Map<number, RowOutcome>> {
  const { work, job, searchTaken, flush } = importing;
  const { sql } = work;
  await stage(importing, kind, id, rows);
  const options = { kind, mode: job.payload.mode, batchRows: BATCH_ROWS };
  const { batches } = await planStaged(job, sql, id, options);
  const known = new Map<number, FieldError>();
  for (let batch = 0; batch < batches; batch += 1) {
    job.signal.throwIfAborted();
    const applying = { work, ctx: job.ctx, jobId: id, dryRun: false, known, searchTaken };
    await storeOutcomes(sql, id, await applyBatch(kind, applying, batch));
    await flush();
  }
  await dropPlan(sql);
  const outcomes = await sql('import_outcomes').where({ job_id: id }).select('line', 'outcome', 'errors');
  return new Map(outcomes.map((row: RowOutcome) => [row.line, row]));
}

async function stage({ work, job }: Importing, kind: ImportKind, id: string, rows: readonly ModelRow[]) {
  const { sql } = work;
  const { ctx } = job;
  // a line for each row, so that lines are places; one without a row is blank, and is read over
  const lines = function* () {
    for (const { row } of rows) yield Buffer.from(`${row ? JSON.stringify(row) : ''}\n`);
  };
  const source = Readable.from(lines());
  const options = { kind, format: 'ndjson', empty: 'leave' } as const;
  const stageRows = await createStager(ctx, sql, kind);
  for await (const read of readSource(source, ctx.metamodel, kind, options, BATCH_ROWS)) {
    job.signal.throwIfAborted();
    await storeRows(sql, id, kind, await stageRows(sql, read));
  }
}

/** The cards of the rows that were carried out, by line. */
export async function cardIdsOf(sql: Knex.Transaction, id: string): Promise<Map<number, string>> {
  const { rows } = await sql.raw(
    `select p.line, p.card_id from import_card_plan p join import_outcomes o on o.job_id = p.job_id and o.line = p.line
     where p.job_id = ? and o.outcome <> 'failed'`,
    [id],
  );
  return new Map(rows.map(({ line, card_id }: { line: number; card_id: string }) => [line, card_id]));
}

/** Removes what was staged. */
export async function removeRows(sql: Knex.Transaction, ids: string[]): Promise<void> {
  for (const id of ids) await removeStaged(sql, id);
}
