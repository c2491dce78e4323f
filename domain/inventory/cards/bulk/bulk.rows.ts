import type { Ctx, Work } from '../../../kernel/context.ts';
import { loadCards, lockCards, lockHierarchy, type StoredCard } from '../cards.load.ts';

/** A card that a bulk operation passes over. */
export interface SkippedCard {
  card_id: string;
  reason: string;
}

/** The ids as the database writes them, each once. */
export const uniqueIds = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

/** The cards of a bulk operation that changes their state, locked, and those that it passes over. */
export async function chooseCards(
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
