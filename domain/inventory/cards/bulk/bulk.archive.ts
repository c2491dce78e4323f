import { command } from '../../../kernel/command.ts';
import type { Ctx } from '../../../kernel/context.ts';
import { requireOnCards } from '../../../kernel/permissions/policy.ts';
import { ARCHIVE, archiveAll } from '../cards.archive.ts';
import { DELETE, deleteAll } from '../cards.delete.ts';
import type { RemovalPlan, RemovalRequest } from '../cards.removal.ts';
import { restoreAll } from '../cards.restore.ts';
import { chooseCards, type SkippedCard } from './bulk.rows.ts';

/** What a bulk removal is asked for; related cards are not named one by one. */
export interface BulkRemovalRequest extends Omit<RemovalRequest, 'related_card_ids'> {
  card_ids: string[];
  dry_run: boolean;
}

export interface BulkRemovalAnswer {
  requested: number;
  /** Those that were asked for. */
  removed: string[];
  /** Cards below them, and related ones, that went too. */
  cascaded_card_ids: string[];
  /** Cards that got another parent. */
  moved_card_ids: string[];
  skipped: SkippedCard[];
  dry_run: boolean;
}

function answerOf(
  { card_ids, dry_run }: BulkRemovalRequest,
  plan: RemovalPlan | undefined,
  skipped: SkippedCard[],
): BulkRemovalAnswer {
  const cascaded = new Set([...(plan?.cascaded ?? []), ...(plan?.related ?? [])]);
  return {
    requested: card_ids.length,
    removed: plan?.removed.filter((id) => !cascaded.has(id)) ?? [],
    cascaded_card_ids: [...cascaded],
    moved_card_ids: [...(plan?.moved.keys() ?? [])],
    skipped,
    dry_run,
  };
}

/**
 * Archives many cards as one act: all of them or, when one is refused, none. What is archived already or does not
 * exist is passed over.
 * @throws EstateError `forbidden` naming the cards, `children_present`, `too_many_descendants`, `sibling_name_taken`.
 */
export async function archiveCards(ctx: Ctx, request: BulkRemovalRequest): Promise<BulkRemovalAnswer> {
  return await command(
    ctx,
    async (work) => {
      const { chosen, skipped } = await chooseCards(work, ctx, request.card_ids, ({ status }) =>
        status === 'ARCHIVED' ? 'already_archived' : undefined,
      );
      requireOnCards(ctx, ARCHIVE, chosen);
      const plan = chosen.length > 0 ? await archiveAll(work, ctx, chosen, request) : undefined;
      return answerOf(request, plan, skipped);
    },
    { dryRun: request.dry_run },
  );
}

/**
 * Deletes many cards for good, active or archived: all of them or none. What does not exist is passed over.
 * @throws EstateError as {@link archiveCards}.
 */
export async function deleteCards(ctx: Ctx, request: BulkRemovalRequest): Promise<BulkRemovalAnswer> {
  return await command(
    ctx,
    async (work) => {
      const { chosen, skipped } = await chooseCards(work, ctx, request.card_ids, () => undefined);
      requireOnCards(ctx, DELETE, chosen);
      const plan = chosen.length > 0 ? await deleteAll(work, ctx, chosen, request) : undefined;
      return answerOf(request, plan, skipped);
    },
    { dryRun: request.dry_run },
  );
}

export interface BulkRestoreAnswer {
  requested: number;
  restored_card_ids: string[];
  skipped: SkippedCard[];
  dry_run: boolean;
}

/**
 * Restores many archived cards: all of them or none, parents together with their children.
 * @throws EstateError `forbidden` naming the cards, `wrong_state` below an archived card, `sibling_name_taken`.
 */
export async function restoreCards(
  ctx: Ctx,
  request: { card_ids: string[]; dry_run: boolean },
): Promise<BulkRestoreAnswer> {
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
