import { type Fragment, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { ReportQuery } from '../../../domain/inventory/reports/report-query.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { type Db, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { type Snapshot, snapshotOn, withSnapshot } from '../../../platform/snapshot.ts';
import { snapshotPosition } from '../../exchange/extraction/extraction.plan.ts';
import { readAsOf } from '../../kernel/as-of/as-of.ts';
import { compileQuery } from './query.compile.ts';
import { planQuery, type QueryPlan } from './query.plan.ts';

/** The planner's estimate (in its own unit, a page read in order) up to which a query is answered at once. */
export const COST_LIMIT = 1_000_000;

/** How long a query may take, in milliseconds: asked for at once, and as a job. */
export const TIME_LIMITS = { atOnce: 20_000, job: 15 * 60_000 };

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Total Cost': number } }];
}

/** The planner's estimate of a statement, from the row that `EXPLAIN (FORMAT JSON)` answers. */
const costOf = (row: unknown): number => (row as Explained)['QUERY PLAN'][0].Plan['Total Cost'];

/** @throws EstateError `query_too_heavy` for an estimate beyond the limit. */
export function guardCost(cost: number): void {
  if (cost <= COST_LIMIT) return;
  throw new EstateError(
    'query_too_heavy',
    'The query would take long: send it with "Prefer: respond-async" to have it answered by a job, or ask about fewer cards or relations.',
    { extra: { estimated_cost: Math.round(cost), limit: COST_LIMIT } },
  );
}

/** The refusal of a query that has taken too long; other errors stay as they are. */
function tooLong(error: unknown, limitMs: number): unknown {
  // query_canceled: by the statement's time limit
  if (sqlState(error) !== '57014') return error;
  return new EstateError(
    'query_too_heavy',
    `The query was ended after ${limitMs / 1000} seconds: ask about fewer cards or relations${limitMs < TIME_LIMITS.job ? ', or send it with "Prefer: respond-async"' : ''}.`,
    { cause: error },
  );
}

/** The moment that a query reads: now, unless `asOf` names another. */
export interface QueryTime {
  asOf: string | undefined;
  /** Whether the reader sees costs. */
  costs: boolean;
}

export const queryTimeOf = (ctx: Ctx, query: { as_of?: string }): QueryTime => ({
  asOf: query.as_of,
  costs: may(ctx.caller, 'costs.view'),
});

/**
 * Runs `work` on one snapshot, of now or of a moment in the past, with bounds and memory for aggregates over all cards.
 * @param timeLimit milliseconds for each statement.
 * @throws EstateError `query_too_heavy` for a statement that takes longer, those of `readAsOf`.
 */
export async function withQuerySnapshot<T>(
  db: Db,
  { asOf, costs }: QueryTime,
  timeLimit: number,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const bounded = async (snapshot: Snapshot) => {
    await snapshot.query(`set local statement_timeout = ${timeLimit}`);
    await snapshot.query(`set local work_mem = '64MB'`);
    // compiling would take longer than most of these queries
    await snapshot.query('set local jit = off');
    return await work(snapshot);
  };
  try {
    if (asOf === undefined) return await withSnapshot(db, bounded);
    return await readAsOf(
      db,
      new Date(asOf),
      async (sql) => bounded(snapshotOn(await sql.client.acquireConnection())),
      { costs },
    );
  } catch (error) {
    throw tooLong(error, timeLimit);
  }
}

/** Which groups of the answer are wanted. */
export interface QueryPage {
  page: number;
  page_size: number;
}

/** The columns as an answer tells them. */
export async function describeColumns(db: Sql, plan: QueryPlan) {
  const currency = await readSetting(db, 'currency');
  return plan.columns.map(({ name, type, unit }) => ({
    name,
    type,
    ...(unit ? { unit: unit === 'currency' ? currency : '%' } : {}),
  }));
}

/** @throws EstateError `query_too_heavy` where the planner expects a statement to take long. */
export async function guardStatement(snapshot: Snapshot, statement: Fragment): Promise<void> {
  const [row] = await snapshot.query(`explain (format json) ${statement.sql}`, statement.bindings);
  guardCost(costOf(row));
}

/**
 * Answers one page of a query's groups, from one snapshot and one statement.
 * @throws EstateError as planQuery, `query_too_heavy`, `as_of_expired`.
 */
export async function runQuery(ctx: Ctx, query: ReportQuery, page: QueryPage): Promise<JsonText> {
  const plan = await planQuery(ctx, query);
  const { groups, outputs, order } = compileQuery(plan);
  const cells: Fragment = { sql: outputs.join(', '), bindings: [], total: false };
  const statement = sql`${groups}
    select (select count(*) from h)::int as total,
      (select coalesce(json_agg(item), '[]') from (
        select json_build_array(${cells}) as item from h${order}
        limit ${page.page_size}::int offset ${(page.page - 1) * page.page_size}::bigint) as page)::text as rows`;
  const columns = await describeColumns(ctx.db, plan);
  return await withQuerySnapshot(ctx.db, queryTimeOf(ctx, query), TIME_LIMITS.atOnce, async (snapshot) => {
    await guardStatement(snapshot, statement);
    const position = await snapshotPosition(snapshot);
    const [answer] = await snapshot.query<{ total: number; rows: string }>(statement.sql, statement.bindings);
    const { total, rows } = answer!;
    const more = {
      total_groups: total,
      page: page.page,
      page_size: page.page_size,
      has_more: page.page * page.page_size < total,
      position,
    };
    return `{"columns":${JSON.stringify(columns)},"rows":${rows},${JSON.stringify(more).slice(1)}`;
  });
}
