import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requireOnCards } from '../../kernel/permissions/policy.ts';
import { newIds } from './cards.insert.ts';
import { loadCards, lockHierarchy, requireCard, type StoredCard, writtenCard } from './cards.load.ts';
import { EDIT } from './cards.patch.ts';
import {
  affected,
  lockRemoval,
  moveWrites,
  planRemoval,
  type RemovalPlan,
  type RemovalRequest,
  withLevel,
} from './cards.removal.ts';
import { type CardWrite, saveCards } from './cards.save.ts';

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
    const plan = await archiveAll(work, ctx, [primary], request);
    return `{"primary":${await writtenCard(work.sql, ctx, primary.id)},${affected(plan)}}`;
  });
}

/**
 * Archives active cards under the exclusive hierarchy lock. What goes with a card carries the id of that card's
 * archiving.
 * @throws EstateError as {@link archiveCard}.
 */
export async function archiveAll(
  work: Work,
  ctx: Ctx,
  primaries: StoredCard[],
  request: RemovalRequest,
): Promise<RemovalPlan> {
  const plan = await planRemoval(work, ctx, primaries, request, 'archive');
  const cards = await lockRemoval(work, ctx, plan, 'archive');
  const removed = plan.removed.map((id) => requireCard(cards, id));
  requireOnCards(ctx, ARCHIVE, removed);
  requireOnCards(
    ctx,
    EDIT,
    [...plan.moved.keys()].map((id) => requireCard(cards, id)),
  );
  const acts = await actsOf(work, plan, primaries, cards);
  const archived_at = new Date().toISOString();
  await saveCards(work, ctx, [
    ...removed.map((before): CardWrite => {
      const state = { status: 'ARCHIVED' as const, archived_at, archive_batch_id: acts.get(before.id)! };
      return { before, after: { ...withLevel(plan, before), ...state }, event: 'card.archived' };
    }),
    ...moveWrites(work, plan, cards),
  ]);
  return plan;
}

/** The id of the act that archives each card: one for each of the cards with what lies below it. */
async function actsOf(
  work: Work,
  plan: RemovalPlan,
  primaries: StoredCard[],
  cards: ReadonlyMap<string, StoredCard>,
): Promise<Map<string, string>> {
  const ids = await newIds(work, primaries.length);
  const acts = new Map(primaries.map((card, n) => [card.id, ids[n]!]));
  const actOf = (id: string): string => {
    const known = acts.get(id);
    if (known) return known;
    const act = actOf(cards.get(id)!.parent_id!);
    acts.set(id, act);
    return act;
  };
  // a related card may be so to several: it goes with the first
  for (const id of plan.related) acts.set(id, ids[0]!);
  for (const id of plan.cascaded) actOf(id);
  return acts;
}
