import { EstateError } from '../../platform/errors.ts';
import { requireOnCard } from '../access/policy.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import type { JsonText } from '../lists/lists.types.ts';
import { loadCards, lockHierarchy, requireCard, writtenCard } from './cards.load.ts';
import { EDIT } from './cards.patch.ts';
import {
  affected,
  lockRemoval,
  moveWrites,
  planRemoval,
  type RemovalRequest,
  withLevel,
} from './cards.removal.ts';
import { saveCards } from './cards.save.ts';

/** Needed for archiving and restoring. */
export const ARCHIVE = { app: 'inventory.archive', card: 'card.archive' } as const;

/**
 * Archives a card, with its active children as the strategy says and related cards where asked. All that one act
 * archives carries its id, so that it can be restored together.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, `children_present`,
 * `too_many_descendants`, `validation_failed`, `sibling_name_taken`.
 */
export async function archiveCard(ctx: Ctx, id: string, request: RemovalRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const primary = requireCard(await loadCards(work, ctx, [id]), id);
    requireOnCard(ctx, ARCHIVE, primary);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, primary.id));
    if (primary.status === 'ARCHIVED') {
      throw new EstateError('wrong_state', 'The card is archived already.');
    }
    const plan = await planRemoval(work, ctx, [primary], request, 'archive');
    const cards = await lockRemoval(work, ctx, plan, 'archive');
    for (const removed of plan.removed) requireOnCard(ctx, ARCHIVE, requireCard(cards, removed));
    for (const moved of plan.moved.keys()) requireOnCard(ctx, EDIT, requireCard(cards, moved));

    const batch = (await work.sql.raw('select uuidv7() as id')).rows[0].id as string;
    const archived_at = new Date().toISOString();
    await saveCards(
      work,
      ctx,
      plan.removed.map((removed) => {
        const before = requireCard(cards, removed);
        const state = { status: 'ARCHIVED' as const, archived_at, archive_batch_id: batch };
        return { before, after: { ...withLevel(plan, before), ...state }, event: 'card.archived' };
      }),
    );
    await saveCards(work, ctx, moveWrites(work, plan, cards));
    return `{"primary":${await writtenCard(work.sql, ctx, primary.id)},${affected(plan)}}`;
  });
}
