import type { ReportQuery } from '../../../domain/exchange/exports/report-query.job.ts';
import { type Fragment, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { snapshotPosition } from '../../exchange/extraction/extraction.plan.ts';
import { compileQuery } from './query.compile.ts';
import { costOf, guardCost, TIME_LIMITS } from './query.guard.ts';
import { planQuery, type QueryPlan } from './query.plan.ts';
import { momentOf, withQuerySnapshot } from './query.time.ts';

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
  return await withQuerySnapshot(ctx.db, momentOf(ctx, query), TIME_LIMITS.atOnce, async (snapshot) => {
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
