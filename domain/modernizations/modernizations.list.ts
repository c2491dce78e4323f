import { may } from '../access/policy.ts';
import { requireFindings, seenCards } from '../analysis/analysis.rights.ts';
import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { priorities } from './modernizations.rules.ts';

export interface ModernizationsListed extends ListParams {
  target_type?: string;
  modernization_type?: string;
  priority?: string;
  effort?: string;
}

/** Cards that should be modernised, the most pressing first. @throws EstateError `forbidden`. */
export async function listModernizations(
  ctx: Ctx,
  { priority, ...asked }: ModernizationsListed,
): Promise<JsonText> {
  requireFindings(ctx);
  const { target_type, modernization_type, effort, ...params } = asked;
  const costs = may(ctx.caller, 'costs.view');
  // neither score nor order may tell of costs
  const score = costs ? 'm.score' : 'm.score_without_costs';
  const priorityOf = `case when ${score} >= ${priorities.high} then 'high'
    when ${score} >= ${priorities.medium} then 'medium' else 'low' end`;
  const spec: ListSpec = {
    name: costs ? 'modernizations' : 'modernizations-without-costs',
    from: 'modernizations m join cards c on c.id = m.card_id',
    id: 'm.id',
    idType: 'uuid',
    sorts: {
      score: { sql: score, type: 'numeric', filled: true },
      card_name: { sql: 'c.name_key', type: 'text', filled: true },
      dependants: { sql: 'm.dependants', type: 'bigint', filled: true },
    },
    defaultSort: 'score',
    defaultDir: 'desc',
    members: {
      id: 'm.id',
      target_type: 'm.target_type',
      cluster_id: 'null::uuid',
      card_id: 'm.card_id',
      card_name: 'c.name',
      current_tech: 'm.current_tech',
      modernization_type: 'm.modernization_type',
      recommendation: 'm.recommendation',
      effort: 'm.effort',
      priority: priorityOf,
      score,
      reasons: costs
        ? 'm.reasons'
        : `coalesce((select jsonb_agg(r.reason order by r.n) from jsonb_array_elements(m.reasons)
            with ordinality as r(reason, n) where r.reason ->> 'factor' <> 'cost'), '[]')`,
      dependants: 'm.dependants',
      status: 'm.status',
      analysed_at: 'utc(m.analysed_at)',
    },
    search: `fold(concat_ws(' ', c.name, m.current_tech, m.recommendation))`,
  };
  const conditions: Condition[] = [
    { sql: 'm.is_current', bindings: [] },
    { sql: seenCards(ctx), bindings: [], visibility: true },
  ];
  const equal = {
    'm.target_type': target_type,
    'm.modernization_type': modernization_type,
    'm.effort': effort,
  };
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) conditions.push({ sql: `${column} = ?`, bindings: [value] });
  }
  if (priority !== undefined) conditions.push({ sql: `${priorityOf} = ?`, bindings: [priority] });
  return await runList(ctx.db, spec, conditions, params, { owner: ctx.caller.userId });
}
