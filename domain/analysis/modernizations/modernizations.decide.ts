import { notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireFindings, seenCards } from '../runs/analysis.rights.ts';
import { readModernization } from './modernizations.list.ts';
import type { ModernizationStatus } from './modernizations.types.ts';

/**
 * Decides about what is proposed for a card. It holds for as often as the same is proposed, whichever run does so; `pending` takes it
 * back.
 * @returns the candidate as it is then, also where the write is only tried.
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
    const { rows } = await sql.raw(
      `select m.card_id, m.modernization_type, c.type from modernizations m join cards c on c.id = m.card_id
       where m.id = ? and m.is_current and ${seenCards(ctx)} for update of m`,
      [id],
    );
    if (!rows[0]) throw notFound('modernization', id);
    const { type, ...decided } = rows[0] as { card_id: string; modernization_type: string; type: string };
    const before = await storedDecision();
    if (status === 'pending') await sql('modernization_decisions').where(decided).delete();
    else if (status !== before?.status) {
      await sql('modernization_decisions')
        .insert({ ...decided, status, decided_by: ctx.caller.userId })
        .onConflict(['card_id', 'modernization_type'])
        .merge({ status, decided_by: ctx.caller.userId, decided_at: sql.fn.now() });
    }
    const after = await storedDecision();
    const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
    const changes = rowChanges(before, after ?? null);
    if (Object.keys(changes).length > 0) {
      emit({
        event_type: `modernization_decision.${kind}`,
        card_id: decided.card_id,
        card_type: type,
        data: { id: (after ?? before)!.id as string, changes },
      });
    }
    return await readModernization(ctx, id, sql);

    async function storedDecision(): Promise<StoredRow | null> {
      const found = await sql('modernization_decisions as d')
        .where(decided)
        .forUpdate()
        .first(sql.raw('to_jsonb(d) as row'));
      return (found as { row: StoredRow } | undefined)?.row ?? null;
    }
  });
}
