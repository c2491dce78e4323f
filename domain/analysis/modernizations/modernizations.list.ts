import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import {
  modernizationsJob,
  requireFindings,
  type StartedRun,
  startAnalysis,
  visibleCardsSql,
} from '../runs/runs.ts';
import { Modernization, ModernizationDecision } from './modernizations.model.ts';
import { priorities } from './modernizations.rules.ts';
import { levels, type ModernizationStatus, type ModernizationType } from './modernizations.types.ts';

export const Priority = Choice(
  levels,
  `High from a score of ${priorities.high} on, medium from ${priorities.medium}`,
);
const { target_type, modernization_type, effort, status } = Modernization.columns;
export const modernizationFilters = {
  target_type: Type.Optional(target_type),
  modernization_type: Type.Optional(modernization_type),
  priority: Type.Optional(Priority),
  effort: Type.Optional(effort),
  status: Type.Optional(status),
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only proposals for this card' })),
};

const sortsBy = (score: string): Record<string, SortField> => ({
  score: { sql: score, type: 'numeric', filled: true },
  card_name: { sql: 'c.name_key', type: 'text', filled: true },
  dependants: { sql: 'm.dependants', type: 'bigint', filled: true },
});
export const modernizationSorts = sortsBy('m.score');

const {
  run_id: _run,
  is_current: _current,
  score_without_costs: _score,
  ...columns
} = columnMembers('m', Modernization);

const STATUS = `coalesce(d.status, 'pending')`;

/** Without `costs.view` neither the score nor the order may reveal costs. */
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
    sorts: sortsBy(score),
    defaultSort: 'score',
    defaultDir: 'desc',
    members: {
      ...columns,
      cluster_id: 'null::uuid',
      card_name: 'c.name',
      priority: priorityBy(score),
      score,
      reasons: costs
        ? 'm.reasons'
        : `coalesce((select jsonb_agg(r.reason order by r.n) from jsonb_array_elements(m.reasons)
            with ordinality as r(reason, n) where r.reason ->> 'factor' <> 'cost'), '[]')`,
      status: STATUS,
      decided_by: 'd.decided_by',
      decided_at: 'utc(d.decided_at)',
    },
    search: `fold(concat_ws(' ', c.name, m.current_tech, m.recommendation))`,
    filters: {
      target_type: 'm.target_type = ?',
      modernization_type: 'm.modernization_type = ?',
      effort: 'm.effort = ?',
      card_id: 'm.card_id = ?',
      status: `${STATUS} = ?`,
      priority: `${priorityBy(scoreFor(ctx))} = ?`,
    },
  };
}

const current = (ctx: Ctx): Condition[] => [
  fragment`m.is_current`,
  { sql: visibleCardsSql(ctx), bindings: [], visibility: true },
];

/** Cards that should be modernised, the highest score first. @throws EstateError `forbidden`. */
export async function listModernizations(
  ctx: Ctx,
  filter: ListParams & StaticOf<typeof modernizationFilters>,
): Promise<JsonText> {
  requireFindings(ctx);
  return await runList(ctx, candidateList(ctx), current(ctx), filter);
}

/** One proposal as an item of the list. @throws EstateError `forbidden`, `not_found`. */
async function readModernization(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requireFindings(ctx);
  return await readItem(sql, candidateList(ctx), 'modernization', id, current(ctx));
}

/**
 * Decides about a proposal. The decision applies to the same proposal of all runs; `pending` deletes it.
 * @returns the proposal with the decision, also in a dry run.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function decideModernization(
  ctx: Ctx,
  id: string,
  status: ModernizationStatus,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  requireFindings(ctx);
  return await command(ctx, async ({ sql, emit }) => {
    const [found] = await query(sql).rows<{
      card_id: string;
      modernization_type: ModernizationType;
      type: string;
    }>`select m.card_id, m.modernization_type, c.type from modernizations m join cards c on c.id = m.card_id
       where m.id = ${id} and m.is_current and ${embed(visibleCardsSql(ctx))} for update of m`;
    if (!found) throw notFound('modernization', id);
    const { type, ...decided } = found;
    const stored = () => lockRow(sql, ModernizationDecision, decided);
    const before = await stored();
    if (status === 'pending') await sql('modernization_decisions').where(decided).delete();
    else if (status !== before?.status) {
      await sql('modernization_decisions')
        .insert({ ...decided, status, decided_by: ctx.caller.userId })
        .onConflict(['card_id', 'modernization_type'])
        .merge({ status, decided_by: ctx.caller.userId, decided_at: sql.fn.now() });
    }
    const after = await stored();
    const verb = !before ? 'created' : !after ? 'deleted' : 'updated';
    const changes = rowChanges(before ?? null, after ?? null);
    if (Object.keys(changes).length > 0) {
      emit({
        event_type: `modernization_decision.${verb}`,
        card_id: decided.card_id,
        card_type: type,
        data: { id: (after ?? before)!.id, changes },
      });
    }
    return await readModernization(ctx, id, sql);
  });
}

interface ModernizationsAsked {
  /** The type of the scored cards. */
  target_type: string;
  /** `general`: all types of modernization; otherwise only this one. */
  modernization_type: 'general' | ModernizationType;
}

/**
 * Starts scoring the cards of a type.
 * @throws EstateError `forbidden`, `wrong_state`, `validation_failed` for an unknown type.
 */
export async function startModernizations(ctx: Ctx, asked: ModernizationsAsked): Promise<StartedRun> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  if (!ctx.metamodel.visibleTypes.includes(asked.target_type)) {
    throw invalidField('target_type', 'unknown_type', 'is no card type');
  }
  return await startAnalysis(ctx, {
    type: 'modernizations',
    job: modernizationsJob,
    parameters: { target_type: asked.target_type, modernization_type: asked.modernization_type },
  });
}
