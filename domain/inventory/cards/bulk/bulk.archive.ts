import { command } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { type CardRight, requireOnCards } from '../../../kernel/permissions/policy.ts';
import { archiveAll, restoreAll } from '../cards.archive.ts';
import { loadCards, lockCards, lockHierarchy, type StoredCard } from '../cards.load.ts';
import { ARCHIVE, DELETE, deleteAll, type RemovalRequest } from '../cards.removal.ts';

/** The options of a bulk removal; related cards cannot be selected individually. */
interface BulkRemovalRequest extends Omit<RemovalRequest, 'related_card_ids'> {
  card_ids: string[];
  dry_run: boolean;
}

async function removeAll(
  ctx: Ctx,
  request: BulkRemovalRequest,
  right: CardRight,
  act: typeof archiveAll,
  reasonToSkip: (card: StoredCard) => string | undefined,
) {
  const { card_ids, dry_run } = request;
  return await command(
    ctx,
    async (work) => {
      const { chosen, skipped } = await chooseCards(work, ctx, card_ids, reasonToSkip);
      requireOnCards(ctx, right, chosen);
      const plan = chosen.length > 0 ? await act(work, ctx, chosen, request) : undefined;
      const cascaded = new Set([...(plan?.cascaded ?? []), ...(plan?.related ?? [])]);
      return {
        requested: card_ids.length,
        removed: plan?.removed.filter((id) => !cascaded.has(id)) ?? [],
        cascaded_card_ids: [...cascaded],
        moved_card_ids: [...(plan?.moved.keys() ?? [])],
        skipped,
        dry_run,
      };
    },
    { dryRun: dry_run },
  );
}

/**
 * Archives cards in one operation: all of them or, if one is refused, none. Cards that are already archived or do not
 * exist are skipped.
 * @throws EstateError `forbidden` naming the cards, `children_present`, `too_many_descendants`, `sibling_name_taken`.
 */
export const archiveCards = (ctx: Ctx, request: BulkRemovalRequest) =>
  removeAll(ctx, request, ARCHIVE, archiveAll, ({ status }) =>
    status === 'ARCHIVED' ? 'already_archived' : undefined,
  );

/**
 * Deletes cards, active or archived: all of them or none. Cards that do not exist are skipped.
 * @throws EstateError as {@link archiveCards}.
 */
export const deleteCards = (ctx: Ctx, request: BulkRemovalRequest) =>
  removeAll(ctx, request, DELETE, deleteAll, () => undefined);

/**
 * Restores many archived cards: all of them or none, parents together with their children.
 * @throws EstateError `forbidden` naming the cards, `wrong_state` below an archived card, `sibling_name_taken`.
 */
export async function restoreCards(ctx: Ctx, request: { card_ids: string[]; dry_run: boolean }) {
  return await command(
    ctx,
    async (work) => {
      const { chosen, skipped } = await chooseCards(work, ctx, request.card_ids, ({ status }) =>
        status === 'ACTIVE' ? 'already_active' : undefined,
      );
      await restoreAll(work, ctx, chosen);
      const restored_card_ids = chosen.map((card) => card.id);
      const { card_ids, dry_run } = request;
      return { requested: card_ids.length, restored_card_ids, skipped, dry_run };
    },
    { dryRun: request.dry_run },
  );
}

/** A card that a bulk operation skips. */
interface SkippedCard {
  card_id: string;
  reason: string;
}

/** The ids in canonical form, without duplicates. */
export const uniqueIds = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

/** The cards of a bulk operation that changes their state, locked, and the skipped ones. */
async function chooseCards(
  work: Work,
  ctx: Ctx,
  ids: string[],
  reasonToSkip: (card: StoredCard) => string | undefined,
): Promise<{ chosen: StoredCard[]; skipped: SkippedCard[] }> {
  await lockHierarchy(work.sql, 'exclusive');
  const wanted = uniqueIds(ids);
  await lockCards(work, wanted);
  const cards = await loadCards(work, ctx, wanted);
  const chosen: StoredCard[] = [];
  const skipped: SkippedCard[] = [];
  for (const card_id of wanted) {
    const card = cards.get(card_id);
    const reason = card ? reasonToSkip(card) : 'not_found';
    if (reason === undefined) chosen.push(card!);
    else skipped.push({ card_id, reason });
  }
  return { chosen, skipped };
}
