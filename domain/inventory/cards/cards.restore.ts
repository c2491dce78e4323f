import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireOnCard, requireOnCards } from '../../kernel/permissions/policy.ts';
import { ARCHIVE } from './cards.archive.ts';
import {
  loadCards,
  lockCards,
  lockHierarchy,
  requireCard,
  type StoredCard,
  writtenCard,
} from './cards.load.ts';
import { saveCards } from './cards.save.ts';

export interface RestoreRequest {
  /** Cards that were archived by the same act. */
  also_restore_card_ids?: string[];
}

/**
 * Restores an archived card, with those of its passengers that are named. A card whose parent is archived is
 * restored together with it, or after it.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`, `validation_failed`,
 * `sibling_name_taken`.
 */
export async function restoreCard(ctx: Ctx, id: string, request: RestoreRequest): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await lockHierarchy(work.sql, 'exclusive');
    const named = [...new Set((request.also_restore_card_ids ?? []).map((other) => other.toLowerCase()))];
    await lockCards(work, [id, ...named]);
    const cards = await loadCards(work, ctx, [id, ...named]);
    const primary = requireCard(cards, id);
    requireOnCard(ctx, ARCHIVE, primary);
    if (ctx.ifMatch) checkIfMatch(ctx, await writtenCard(work.sql, ctx, primary.id));
    if (primary.status === 'ACTIVE') {
      throw new EstateError('wrong_state', 'The card is not archived.');
    }
    const faults = named.flatMap((other, index) => {
      const card = cards.get(other);
      const passenger =
        card?.status === 'ARCHIVED' &&
        card.archive_batch_id !== null &&
        card.archive_batch_id === primary.archive_batch_id;
      if (passenger) return [];
      const message = 'is no archived card that was archived together with this one';
      return { field: `also_restore_card_ids.${index}`, code: 'no_passenger', message };
    });
    if (faults.length > 0) throw invalidFields(faults);
    const passengers = named.filter((other) => other !== primary.id);
    const restored = [primary, ...passengers.map((other) => requireCard(cards, other))];
    await restoreAll(work, ctx, restored);
    const text = await writtenCard(work.sql, ctx, primary.id);
    return `{"primary":${text},"restored_passenger_ids":${JSON.stringify(passengers)}}`;
  });
}

/**
 * Restores archived cards that are locked, under the exclusive hierarchy lock. A parent among them is restored with its
 * children.
 * @throws EstateError `forbidden`, `wrong_state` below an archived card, `sibling_name_taken`.
 */
export async function restoreAll(work: Work, ctx: Ctx, restored: StoredCard[]): Promise<void> {
  requireOnCards(ctx, ARCHIVE, restored);
  await requireActiveParents(work, restored);
  await saveCards(
    work,
    ctx,
    restored.map((before) => {
      const after = { ...before, status: 'ACTIVE' as const, archived_at: null, archive_batch_id: null };
      return { before, after, event: 'card.restored' };
    }),
  );
}

/** No active card lies below an archived one. */
async function requireActiveParents({ sql }: Work, restored: StoredCard[]): Promise<void> {
  const ids = new Set(restored.map((card) => card.id));
  const parents = restored.flatMap((card) =>
    card.parent_id === null || ids.has(card.parent_id) ? [] : [card.parent_id],
  );
  if (parents.length === 0) return;
  const archived = await sql('cards').whereIn('id', parents).where({ status: 'ARCHIVED' }).first('id');
  if (!archived) return;
  throw new EstateError(
    'wrong_state',
    'The card lies below an archived one: restore that first, restore both together, or give the card another parent.',
    { extra: { archived_parent_id: archived.id } },
  );
}
