import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList, defineVariants } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, removeRow } from '../../kernel/resources/items.ts';
import { lockRow, type RowOf } from '../../kernel/resources/rows.ts';
import { Choice, Uuid } from '../../kernel/shapes.ts';
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

const seesAllCosts = ({ caller }: Ctx): boolean => may(caller, 'costs.view');

const STATUS = `coalesce(d.status, 'pending')`;

const priorityBy = (score: string): string =>
  `case when ${score} >= ${priorities.high} then 'high' when ${score} >= ${priorities.medium} then 'medium' else 'low' end`;

/** @param costs whether the caller has `costs.view`: otherwise neither the score nor the order may reveal costs. */
function candidates(costs: boolean) {
  const score = costs ? 'm.score' : 'm.score_without_costs';
  return defineList({
    name: costs ? 'modernizations' : 'modernizations-without-costs',
    from: `modernizations m join cards c on c.id = m.card_id
      left join modernization_decisions d on d.card_id = m.card_id and d.modernization_type = m.modernization_type`,
    id: 'm.id',
    permission: 'ai_analysis.view',
    sorts: {
      score: { sql: score, type: 'numeric', filled: true },
      card_name: { sql: 'c.name_key', type: 'text', filled: true },
      dependants: { sql: 'm.dependants', type: 'bigint', filled: true },
    },
    defaultSort: 'score',
    defaultDir: 'desc',
    members: {
      ...columnMembers('m', Modernization.shown),
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
      target_type: [target_type, 'm.target_type = ?'],
      modernization_type: [modernization_type, 'm.modernization_type = ?'],
      priority: [Priority, `${priorityBy(score)} = ?`],
      effort: [effort, 'm.effort = ?'],
      status: [status, `${STATUS} = ?`],
      card_id: [Type.String({ ...Uuid, description: 'Only proposals for this card' }), 'm.card_id = ?'],
    },
    where(ctx) {
      requireFindings(ctx);
      return current(ctx);
    },
  });
}

/** Cards that should be modernised, the highest score first. */
export const modernizationList = defineVariants(true, seesAllCosts, candidates);

const current = (ctx: Ctx): Condition[] => [
  fragment`m.is_current`,
  { sql: visibleCardsSql(ctx), bindings: [], visibility: true },
];

/** One proposal as an item of the list. @throws EstateError `forbidden`, `not_found`. */
async function readModernization(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requireFindings(ctx);
  return await readItem(sql, candidates(seesAllCosts(ctx)), 'modernization', id, current(ctx));
}

type DecisionRow = RowOf<typeof ModernizationDecision>;

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
  return await command(ctx, async (work) => {
    const { sql } = work;
    const [found] = await query(sql).rows<{
      card_id: string;
      modernization_type: ModernizationType;
      type: string;
    }>`select m.card_id, m.modernization_type, c.type from modernizations m join cards c on c.id = m.card_id
       where m.id = ${id} and m.is_current and ${embed(visibleCardsSql(ctx))} for update of m`;
    if (!found) throw notFound('modernization', id);
    const { type, ...proposal } = found;
    const event = (old: DecisionRow | null, row: DecisionRow | null) => ({
      ...rowEvent('modernization_decision', old, row, { id: (row ?? old)!.id }),
      card_id: proposal.card_id,
      card_type: type,
    });
    const before = await lockRow(sql, ModernizationDecision, proposal);
    if (status === 'pending') {
      if (before) await removeRow(work, ModernizationDecision, before, event);
    } else if (status !== before?.status) {
      const decision = { status, decided_by: ctx.caller.userId, decided_at: new Date().toISOString() };
      if (before) await changeRow(work, ModernizationDecision, before, decision, event);
      else await createRow(work, ModernizationDecision, { ...proposal, ...decision }, event);
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
export async function startModernizations(
  ctx: Ctx,
  asked: ModernizationsAsked,
  dryRun = false,
): Promise<StartedRun> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  if (!ctx.metamodel.visibleTypes.includes(asked.target_type)) {
    throw invalidField('target_type', 'unknown_type', 'is no card type');
  }
  return await startAnalysis(ctx, {
    type: 'modernizations',
    job: modernizationsJob,
    dryRun,
    parameters: { target_type: asked.target_type, modernization_type: asked.modernization_type },
  });
}
