import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard } from '../../kernel/permissions/policy.ts';
import { loadCards, lockCards, requireCard, typeOf, writtenCard } from './cards.load.ts';
import { saveCards } from './cards.save.ts';
import { missingForApproval } from './rules/approval.ts';
import type { ApprovalStatus } from './rules/card.types.ts';

export type ApprovalAction = 'approve' | 'reject' | 'reset';

const statusAfter: Record<ApprovalAction, ApprovalStatus> = {
  approve: 'APPROVED',
  reject: 'REJECTED',
  reset: 'DRAFT',
};

export const APPROVE = { app: 'inventory.approval_status', card: 'card.approval_status' } as const;

/**
 * Approves, rejects or resets an active card. What it is already is not written again.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, and
 * `approval_blocked_mandatory_missing` naming mandatory relations and tag groups that the card lacks.
 */
export async function setApproval(ctx: Ctx, id: string, action: ApprovalAction): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockCards(work, [id]);
    const card = requireCard(await loadCards(work, ctx, [id]), id);
    requireOnCard(ctx, APPROVE, card);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, card.id));
    if (card.status === 'ARCHIVED') {
      throw new EstateError('wrong_state', 'An archived card has no approval; restore it first.');
    }
    if (action === 'approve') {
      const missing = missingForApproval(typeOf(work.metamodel, card), card.filled);
      if (missing.missing_relations.length + missing.missing_tag_groups.length > 0) {
        throw new EstateError(
          'approval_blocked_mandatory_missing',
          'The card lacks mandatory relations or tags.',
          { extra: { ...missing } },
        );
      }
    }
    const after = { ...card, approval_status: statusAfter[action] };
    await saveCards(work, ctx, [{ before: card, after, event: `card.approval_status.${action}` }]);
    return await writtenCard(work.sql, ctx, card.id);
  });
}
