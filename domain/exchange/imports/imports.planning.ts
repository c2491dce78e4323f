import { embed, fragment, query, type Transaction } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { lineName } from './imports.lines.ts';
import { type Named, nameUnknown } from './imports.nearest.ts';

/** What a plan is created with: one transaction, with the temporary tables `plan_rows` and `plan_errors`. */
export interface Planning {
  sql: Transaction;
  ctx: Ctx;
  jobId: string;
  mode: 'create' | 'upsert';
  /** Maximum rows of one batch. */
  batchRows: number;
  /** The number of the first batch: rows that have outcomes are written, and are planned only as what others depend on. */
  firstBatch: number;
  /** Keys of the card types whose cards have capability levels. */
  leveled: string[];
  /** Throws if the job has to stop; called between statements. */
  pulse(): void;
}

/** How rows of one kind are planned. Queries can use the bindings `:mode`, `:jobId` and `:leveled`. */
export interface PlanSpec {
  rowsTable: string;
  planTable: string;
  /** The query of `plan_rows`: at least `line`, `bytes`, `is_new`, `failed`, `repeated` and `yields_to`. */
  rows: string;
  /** Indexes of `plan_rows` besides the one of `line`. */
  indexes: string[];
  /** Fails rows that cannot be written. */
  settle(planning: Planning): Promise<void>;
  /** How rows name cards that may not exist. */
  named?: Named;
  /** SQL of the errors that a staged row `r` of the plan's row `p` has from reading; default: its `errors`. */
  readErrors?: string;
  /** The query of what is stored in the plan, with `bytes`; default: the rows that have not failed. */
  planned?: string;
  order: string;
  columns: string;
}

/** The approximate maximum size of the rows of a batch. */
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Stores errors and fails their rows, by a statement like those of {@link query} that selects `line, field, code, message`.
 * @returns how many rows.
 */
export const refuse =
  ({ sql, pulse }: Pick<Planning, 'sql' | 'pulse'>) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<number> => {
    pulse();
    const select = fragment(texts, ...values);
    return await query(sql).count`with found (line, field, code, message) as (${embed(select)}),
     stored as (insert into plan_errors (line, field, code, message) select line, field, code, message from found)
     update plan_rows p set failed = true from found where p.line = found.line`;
  };

/** Refuses rows with an id that does not exist, or in the mode `create` one that does. */
export async function refuseIds(planning: Planning, noun: string): Promise<void> {
  const [code, message, condition] =
    planning.mode === 'upsert'
      ? ['unknown_id', `is no ${noun}`, 'is_new and type is not null']
      : ['id_taken', `is a ${noun} already`, 'not is_new'];
  await refuse(planning)`
     select line, 'id', '${embed(code)}', '${embed(message)}' from plan_rows where given_id is not null and ${embed(condition)}`;
}

/**
 * SQL of the stored errors of the row `p` as JSON, in the order in which they were stored. It is evaluated by an index for each row,
 * since the database has no statistics of a temporary table.
 */
const storedErrors = `coalesce((
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('field', f.field, 'code', f.code, 'message', f.message,
    'value', f.value, 'nearest', f.nearest)) order by f.n)
  from plan_errors f where f.line = p.line
), '[]')`;

/**
 * SQL of the line that represents all rows of `plan_rows` with the same key: the first that has not failed, else the
 * first. @param key the columns of the key.
 */
export const representative = (key: string): string =>
  `coalesce(min(line) filter (where not failed) over (partition by ${key}), min(line) over (partition by ${key}))`;

/**
 * Fails the later of rows with the same key, and excludes all but the first from look-ups by that key.
 * @param select returns `line`, `field` and `first`, the line that represents the key.
 */
export async function refuseDuplicates(planning: Planning, select: string): Promise<void> {
  const { sql } = planning;
  await query(sql).run`create temp table plan_duplicates on commit drop as
     select k.line, k.field, k.first, not p.failed as was_sound
     from (${embed(select)}) k join plan_rows p on p.line = k.line where k.first <> k.line`;
  await refuse(planning)`select line, field, 'duplicate_in_file', ${lineName('first')} || ' has the same key'
     from plan_duplicates where first < line`;
  await query(sql).run`update plan_rows p set repeated = true,
    yields_to = case when d.was_sound then d.first end
     from plan_duplicates d where d.line = p.line;
     drop table plan_duplicates`;
}

/** Maximum repetitions of a plan for rows that replace one that failed. */
const MAX_REPLANS = 10;

/**
 * Determines the write of each staged row, set by set, and stores the plan in batches and the outcomes of rows that
 * failed. The plan is repeated if a row was refused because of another row with the same key that failed later: so one
 * valid row of several with one key is written. Rows of `plan_excluded` fail from the beginning.
 */
export async function createPlan(planning: Planning, spec: PlanSpec): Promise<Planned> {
  const { sql, pulse, mode, jobId, leveled } = planning;
  await query(sql).run`create temp table plan_excluded (line integer, errors jsonb) on commit drop`;
  for (let replans = 0; ; replans += 1) {
    await query(sql).run`create temp table plan_errors (
         n integer generated always as identity, line integer, field text, code text, message text,
         value text, nearest text
       ) on commit drop;
       create index on plan_errors (line)`;
    pulse();
    await sql.raw(`create temp table plan_rows on commit drop as ${spec.rows}`, { mode, jobId, leveled });
    await query(sql).run`create unique index on plan_rows (line)`;
    await query(sql).run`update plan_rows p set failed = true from import_outcomes o
      where o.job_id = ${jobId} and o.line = p.line and o.outcome = 'failed'`;
    for (const columns of spec.indexes) await query(sql).run`create index on plan_rows (${embed(columns)})`;
    await query(sql).run`analyze plan_rows`;
    await spec.settle(planning);
    if (spec.named) await nameUnknown(sql, planning.ctx, spec.named);
    pulse();
    const rowCount = await query(sql).count`insert into plan_excluded (line, errors)
       select p.line, ${embed(storedErrors)}
       from plan_rows p where p.failed and p.line in (select yields_to from plan_rows)`;
    if (rowCount === 0 || replans === MAX_REPLANS) break;
    await dropPlan(sql, ['plan_excluded']);
  }
  await query(sql).run`delete from plan_errors where line in (select line from plan_excluded);
     insert into plan_errors (line, field, code, message, value, nearest)
     select x.line, f.field, f.code, f.message, f.value, f.nearest
     from plan_excluded x cross join jsonb_to_recordset(x.errors)
       as f(field text, code text, message text, value text, nearest text)`;
  return await storePlan(planning, spec);
}

/** The size of a stored plan. */
export interface Planned {
  /** Batches, numbered from 0, including those that are written. */
  batches: number;
  /** Rows that will be written. */
  rows: number;
  /** Rows that failed in planning. */
  failed: number;
}

/** SQL of the condition that the row `p` has an outcome. @param job SQL of the job's id. */
const isDone = (job: string) =>
  `exists (select from import_outcomes o where o.job_id = ${job} and o.line = p.line)`;

async function storePlan(
  { sql, jobId, leveled, mode, batchRows, firstBatch, pulse }: Planning,
  {
    rowsTable,
    planTable,
    readErrors = `coalesce(r.errors, '[]')`,
    planned = 'select * from plan_rows where not failed',
    order,
    columns,
  }: PlanSpec,
): Promise<Planned> {
  pulse();
  const failed = await query(sql).count`insert into import_outcomes (job_id, line, outcome, errors)
     select r.job_id, r.line, 'failed', ${embed(readErrors)} || ${embed(storedErrors)}
     from plan_rows p
     join ${embed(rowsTable)} r on r.job_id = ${jobId} and r.line = p.line
     where p.failed and not ${embed(isDone('r.job_id'))}`;
  pulse();
  const { rows } = await sql.raw(
    `with planned as (${planned}), batched as (
       select *, ${firstBatch} + floor(sum(1.0::float8 / ${batchRows} + bytes::float8 / ${BATCH_BYTES}) over (
         order by ${order} rows between unbounded preceding and 1 preceding))::int as batch
       from planned p where not ${isDone('cast(:jobId as uuid)')}
     ), stored as (
       insert into ${planTable} (job_id, batch, ${columns})
       select cast(:jobId as uuid), coalesce(batch, ${firstBatch}), ${columns} from batched
       returning batch
     ) select count(*)::int as rows, coalesce(max(batch) + 1, ${firstBatch}) as batches from stored`,
    { jobId, leveled, mode },
  );
  return { ...rows[0], failed };
}

/** Drops the tables of a plan, so that another one can be created in the same transaction. */
export async function dropPlan(sql: Transaction, except: string[] = []): Promise<void> {
  const rows = await query(sql).rows`select relname as name from pg_class
     where relnamespace = pg_my_temp_schema() and relkind = 'r' and relname ~ '^plan_'
     and relname <> all(${except}::text[])`;
  for (const { name } of rows) await sql.raw('drop table ??', [name]);
}

/** Refuses rows with the id or the external id of an earlier row, of objects that have no other key. */
export const refuseSameKeys = (planning: Planning): Promise<void> =>
  refuseDuplicates(
    planning,
    `select line, case when by_external_id <> line then 'external_id' else 'id' end as field,
       least(nullif(by_external_id, line), nullif(by_id, line)) as first
     from (
       select line,
         case when external_id is not null then ${representative('external_id')} end as by_external_id,
         case when given_id is not null then ${representative('given_id')} end as by_id
       from plan_rows where not repeated
     ) k`,
  );
