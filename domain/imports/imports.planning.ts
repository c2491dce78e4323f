import type { Knex } from 'knex';
import type { Ctx } from '../context.ts';

/** What a plan is made with: one transaction, which holds the temporary tables `plan_rows` and `plan_faults`. */
export interface Planning {
  sql: Knex.Transaction;
  ctx: Ctx;
  jobId: string;
  mode: 'create' | 'upsert';
  /** Rows of one batch, at most. */
  batchRows: number;
  /** Throws when the job is to stop; called between statements. */
  pulse(): void;
}

/** What a plan comes to. */
export interface Planned {
  /** How many batches there are, numbered from 0. */
  batches: number;
  /** How many rows are to be carried out. */
  rows: number;
  /** How many rows have failed before anything was written. */
  failed: number;
}

/** About how many bytes of rows make a batch, however few rows they are. */
export const BATCH_BYTES = 8 * 1024 * 1024;

/** Makes the table of faults; rows of `plan_rows` have a `line` and say whether they `failed`. */
export async function openFaults({ sql }: Pick<Planning, 'sql'>): Promise<void> {
  await sql.raw(
    `create temp table plan_faults (
       n integer generated always as identity, line integer, field text, code text, message text
     ) on commit drop`,
  );
}

/** Notes faults and fails their rows. `select` yields `line, field, code, message`. @returns how many rows. */
export async function refuse(
  { sql, pulse }: Pick<Planning, 'sql' | 'pulse'>,
  select: string,
  bindings: unknown[] = [],
): Promise<number> {
  pulse();
  const { rowCount } = await sql.raw(
    `with found (line, field, code, message) as (${select}),
     noted as (insert into plan_faults (line, field, code, message) select line, field, code, message from found)
     update plan_rows p set failed = true from found where p.line = found.line`,
    bindings as never,
  );
  return rowCount as number;
}

/** The faults of each row of `plan_rows` as JSON, in the order in which they were noted. */
export const notedFaults = `(
  select line, jsonb_agg(jsonb_build_object('field', field, 'code', code, 'message', message) order by n) as errors
  from plan_faults group by line
)`;
