import { embed, query } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import {
  modernizationsJob,
  requireFindings,
  type StartedRun,
  startAnalysis,
  visibleCardsSql,
} from '../runs/runs.ts';
import { readModernization } from './modernizations.list.ts';
import { ModernizationDecision } from './modernizations.model.ts';
import type { ModernizationStatus, ModernizationType } from './modernizations.types.ts';

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

export interface ModernizationsAsked {
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
