import { type Fragment, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { type Db, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { withReportSnapshot } from '../../kernel/report.as-of.ts';
import { compileQuery } from './query.compile.ts';
import { planQuery, type QueryPlan } from './query.plan.ts';

/** Maximum estimated cost (in PostgreSQL's unit, one sequential page read) of a query that is run within a request. */
export const COST_LIMIT = 1_000_000;

/** Time limit of a query in milliseconds: within a request, and as a job. */
export const TIME_LIMITS = { inRequest: 20_000, job: 15 * 60_000 };

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Total Cost': number } }];
}

/** The estimated cost from the row that `EXPLAIN (FORMAT JSON)` returns. */
const costOf = (row: unknown): number => (row as Explained)['QUERY PLAN'][0].Plan['Total Cost'];

/** @throws EstateError `query_too_heavy` for an estimate beyond the limit. */
export function guardCost(cost: number): void {
  if (cost <= COST_LIMIT) return;
  throw new EstateError(
    'query_too_heavy',
    'The query would take too long: send it with "Prefer: respond-async" to run it as a job, or reduce the cards or relations that it reads.',
    { extra: { estimated_cost: Math.round(cost), limit: COST_LIMIT } },
  );
}

/** Converts the error of a query that exceeded its time limit; other errors are returned unchanged. */
function tooLong(error: unknown, limitMs: number): unknown {
  // query_canceled: by the statement's time limit
  if (sqlState(error) !== '57014') return error;
  return new EstateError(
    'query_too_heavy',
    `The query was cancelled after ${limitMs / 1000} seconds: reduce the cards or relations that it reads${limitMs < TIME_LIMITS.job ? ', or send it with "Prefer: respond-async"' : ''}.`,
    { cause: error },
  );
}

/** The time that a query reads: now, unless `asOf` is given. */
export interface QueryTime {
  asOf: string | undefined;
  /** Whether the caller sees costs. */
  costs: boolean;
}

export const queryTimeOf = (ctx: Ctx, query: { as_of?: string }): QueryTime => ({
  asOf: query.as_of,
  costs: may(ctx.caller, 'costs.view'),
});

/**
 * Runs `work` on one snapshot, current or as of a time, with a time limit and memory for aggregates over all cards.
 * @param timeLimit milliseconds for each statement.
 * @throws EstateError `query_too_heavy` for a statement that takes longer, those of `readAsOf`.
 */
export async function withQuerySnapshot<T>(
  db: Db,
  { asOf, costs }: QueryTime,
  timeLimit: number,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  try {
    return await withReportSnapshot(db, asOf ? new Date(asOf) : undefined, { costs }, async (snapshot) => {
      await snapshot.query(`set local statement_timeout = ${timeLimit}`);
      return await work(snapshot);
    });
  } catch (error) {
    throw tooLong(error, timeLimit);
  }
}

/** The page of groups to return. */
export interface QueryPage {
  page: number;
  page_size: number;
}

/** The columns as the response describes them. */
export async function describeColumns(db: Sql, plan: QueryPlan) {
  const currency = await readSetting(db, 'currency');
  return plan.columns.map(({ name, type, unit }) => ({
    name,
    type,
    ...(unit ? { unit: unit === 'currency' ? currency : '%' } : {}),
  }));
}

/** @throws EstateError `query_too_heavy` if the estimated cost of a statement exceeds the limit. */
export async function guardStatement(snapshot: Snapshot, statement: Fragment): Promise<void> {
  const [row] = await snapshot.query(`explain (format json) ${statement.sql}`, statement.bindings);
  guardCost(costOf(row));
}

/**
 * Returns one page of a query's groups, from one snapshot and one statement.
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
  return await withQuerySnapshot(ctx.db, queryTimeOf(ctx, query), TIME_LIMITS.inRequest, async (snapshot) => {
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
