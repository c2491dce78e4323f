import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { requireFindings, seenCards } from '../runs/analysis.rights.ts';
import { priorities } from './modernizations.rules.ts';

export interface ModernizationsListed extends ListParams {
  target_type?: string;
  modernization_type?: string;
  priority?: string;
  effort?: string;
  status?: string;
  card_id?: string;
}

const STATUS = `coalesce(d.status, 'pending')`;

/** Neither score nor order may tell of costs those who may not see them. */
const scoreFor = (ctx: Ctx): string => (may(ctx.caller, 'costs.view') ? 'm.score' : 'm.score_without_costs');

const priorityBy = (score: string): string =>
  `case when ${score} >= ${priorities.high} then 'high' when ${score} >= ${priorities.medium} then 'medium' else 'low' end`;

function candidateList(ctx: Ctx): ListSpec {
  const costs = may(ctx.caller, 'costs.view');
  const score = scoreFor(ctx);
  return {
    name: costs ? 'modernizations' : 'modernizations-without-costs',
    from: `modernizations m join cards c on c.id = m.card_id
      left join modernization_decisions d on d.card_id = m.card_id and d.modernization_type = m.modernization_type`,
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
      priority: priorityBy(score),
      score,
      reasons: costs
        ? 'm.reasons'
        : `coalesce((select jsonb_agg(r.reason order by r.n) from jsonb_array_elements(m.reasons)
            with ordinality as r(reason, n) where r.reason ->> 'factor' <> 'cost'), '[]')`,
      dependants: 'm.dependants',
      status: STATUS,
      decided_by: 'd.decided_by',
      decided_at: 'utc(d.decided_at)',
      analysed_at: 'utc(m.analysed_at)',
    },
    search: `fold(concat_ws(' ', c.name, m.current_tech, m.recommendation))`,
  };
}

/** Cards that should be modernised, the most pressing first. @throws EstateError `forbidden`. */
export async function listModernizations(
  ctx: Ctx,
  { priority, ...asked }: ModernizationsListed,
): Promise<JsonText> {
  requireFindings(ctx);
  const { target_type, modernization_type, effort, status, card_id, ...params } = asked;
  const conditions: Condition[] = [
    { sql: 'm.is_current', bindings: [] },
    { sql: seenCards(ctx), bindings: [], visibility: true },
  ];
  const equal = {
    'm.target_type': target_type,
    'm.modernization_type': modernization_type,
    'm.effort': effort,
    'm.card_id': card_id,
    [STATUS]: status,
    [priorityBy(scoreFor(ctx))]: priority,
  };
  for (const [value, wanted] of Object.entries(equal)) {
    if (wanted !== undefined) conditions.push({ sql: `${value} = ?`, bindings: [wanted] });
  }
  return await runList(ctx.db, candidateList(ctx), conditions, params, { owner: ctx.caller.userId });
}

/** One candidate as the list has it. @throws EstateError `forbidden`, `not_found`. */
export async function readModernization(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requireFindings(ctx);
  const { from, members } = candidateList(ctx);
  const item = projection(members, undefined);
  const { rows } = await sql.raw(
    `select ${item.sql}::text as item from ${from} where m.id = ? and m.is_current and ${seenCards(ctx)}`,
    [...item.bindings, id] as never,
  );
  if (!rows[0]) throw notFound('modernization', id);
  return rows[0].item;
}
