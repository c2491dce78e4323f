import type { Ctx } from '../../kernel/context.ts';
import { clause, likeText } from '../../kernel/lists/lists.sql.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { filterConditions, isOverdue, presentLevel, type RiskFilter, SEARCH } from './risks.list.ts';
import { impacts, levels, probabilities, riskCategories, riskStatuses } from './risks.types.ts';

const counted = (condition: string): string => `count(*) filter (where ${condition})`;
const byValue = (column: string, values: readonly string[]): string =>
  `json_build_object(${values.map((value) => `'${value}', ${counted(`${column} = '${value}'`)}`).join(', ')})`;
/** Rows are probabilities, columns impacts, both in descending order. */
const matrixOf = (kind: 'initial' | 'residual'): string =>
  `json_build_array(${probabilities
    .map(
      (p) =>
        `json_build_array(${impacts
          .map((i) => counted(`r.${kind}_probability = '${p}' and r.${kind}_impact = '${i}'`))
          .join(', ')})`,
    )
    .join(', ')})`;

const metrics = `json_build_object(
  'total', count(*),
  'by_status', ${byValue('r.status', riskStatuses)},
  'by_level', ${byValue('r.level', levels)},
  'by_category', ${byValue('r.category', riskCategories)},
  'overdue', ${counted('r.is_overdue')},
  'created_this_month', ${counted("r.created_at >= date_trunc('month', now(), 'UTC')")},
  'initial_matrix', ${matrixOf('initial')},
  'residual_matrix', ${matrixOf('residual')})`;

/** Figures over the risks that match the filter. @throws EstateError `forbidden`. */
export async function readRiskMetrics(ctx: Ctx, params: RiskFilter & { search?: string }): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  const where = filterConditions(ctx, params);
  if (params.search) where.push({ sql: `${SEARCH} like ?`, bindings: [`%${likeText(params.search)}%`] });
  const w = clause(where);
  const { rows } = await ctx.db.raw(
    `select ${metrics}::text as text
     from (select r.*, ${presentLevel} as level, ${isOverdue} as is_overdue from risks r${w.sql}) r`,
    w.bindings as never,
  );
  return rows[0].text;
}
