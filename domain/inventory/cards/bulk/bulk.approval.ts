import { EstateError } from '../../../../platform/errors.ts';
import { commandWith } from '../../../kernel/command.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { requireOnCards } from '../../../kernel/permissions/policy.ts';
import { APPROVE, type ApprovalAction, approvalWrite } from '../cards.archive.ts';
import { loadCards, lockCards } from '../cards.load.ts';
import { type CardWrite, saveCards } from '../cards.save.ts';
import { uniqueIds } from './bulk.each.ts';

interface BulkApproval {
  card_ids: string[];
  action: ApprovalAction;
  dry_run: boolean;
}

const nothing = { code: null, message: null, missing_relations: [], missing_tag_groups: [] };

/**
 * Approves, rejects or resets many active cards. A card that cannot get the status does not prevent the others; its
 * result says what it lacks.
 * @throws EstateError `forbidden` naming the cards.
 */
export async function setApprovals(ctx: Ctx, { card_ids, action, dry_run }: BulkApproval) {
  const ids = uniqueIds(card_ids);
  return await commandWith(ctx, { dryRun: dry_run }, async (work) => {
    await lockCards(work, ids);
    const cards = await loadCards(work, ctx, ids);
    requireOnCards(ctx, APPROVE, cards.values());
    const writes: CardWrite[] = [];
    const results = ids.map((card_id) => {
      const card = cards.get(card_id);
      if (!card) return { ...nothing, card_id, status: 'not_found' as const };
      try {
        const write = approvalWrite(work, card, action);
        if (write.after.approval_status === card.approval_status)
          return { ...nothing, card_id, status: 'unchanged' as const };
        writes.push(write);
        return { ...nothing, card_id, status: 'updated' as const };
      } catch (error) {
        if (!(error instanceof EstateError)) throw error;
        const { code, message, extra } = error;
        return { ...nothing, ...extra, card_id, status: 'refused' as const, code, message };
      }
    });
    await saveCards(work, ctx, writes);
    return { dry_run, updated: writes.length, results };
  });
}
