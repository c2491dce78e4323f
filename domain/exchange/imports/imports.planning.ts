import type { Knex } from 'knex';
import type { Ctx } from '../../kernel/context.ts';

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

/**
 * SQL for the line that represents all rows of `plan_rows` with one key: the first that can still be carried out, else the
 * first. @param key the columns of the key.
 */
export const representative = (key: string): string =>
  `coalesce(min(line) filter (where not failed) over (partition by ${key}), min(line) over (partition by ${key}))`;

/**
 * Fails the later of rows that have a key in common, and keeps every row but the first from being found by that key.
 * @param select yields `line`, `field` and `first`, the line that represents the key.
 */
export async function refuseDuplicates(planning: Planning, select: string): Promise<void> {
  const { sql } = planning;
  await sql.raw(
    `create temp table plan_duplicates on commit drop as
     select k.line, k.field, k.first, not p.failed as was_sound
     from (${select}) k join plan_rows p on p.line = k.line where k.first <> k.line`,
  );
  await refuse(
    planning,
    `select line, field, 'duplicate_in_file', 'line ' || first || ' has the same key'
     from plan_duplicates where first < line`,
  );
  await sql.raw(
    `update plan_rows p set repeated = true, yields_to = case when d.was_sound then d.first end
     from plan_duplicates d where d.line = p.line;
     drop table plan_duplicates`,
  );
}

/** How often a plan is made anew for rows that take the place of one that failed. */
const MOST_REPLANS = 10;

/**
 * Makes a plan, and makes it anew as long as a row was refused for the sake of a row with the same key that failed later on:
 * so one sound row of several with one key is carried out. `prepare` makes `plan_rows`, whose rows in `plan_excluded` must
 * be failed from the beginning; `settle` fails rows.
 */
export async function planAnew(
  planning: Planning,
  prepare: () => Promise<void>,
  settle: () => Promise<void>,
): Promise<void> {
  const { sql, pulse } = planning;
  await sql.raw('create temp table plan_excluded (line integer, faults jsonb) on commit drop');
  for (let replans = 0; ; replans += 1) {
    await prepare();
    await settle();
    pulse();
    const { rowCount } = await sql.raw(
      `insert into plan_excluded (line, faults)
       select p.line, coalesce((select errors from ${notedFaults} f where f.line = p.line), '[]')
       from plan_rows p where p.failed and p.line in (select yields_to from plan_rows)`,
    );
    if (rowCount === 0 || replans === MOST_REPLANS) break;
    await dropPlan(sql, ['plan_excluded']);
  }
  await sql.raw(
    `delete from plan_faults where line in (select line from plan_excluded);
     insert into plan_faults (line, field, code, message)
     select x.line, f.field, f.code, f.message
     from plan_excluded x cross join jsonb_to_recordset(x.faults) as f(field text, code text, message text)`,
  );
}

/** Drops the tables of a plan, so that another one can be made in the same transaction. */
export async function dropPlan(sql: Knex.Transaction, kept: string[] = []): Promise<void> {
  const { rows } = await sql.raw(
    `select relname as name from pg_class
     where relnamespace = pg_my_temp_schema() and relkind = 'r' and relname ~ '^plan_' and relname <> all(?::text[])`,
    [kept],
  );
  for (const { name } of rows) await sql.raw('drop table ??', [name]);
}
