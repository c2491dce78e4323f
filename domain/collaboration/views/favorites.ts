import { fragment, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { OptionalText } from '../../kernel/shapes.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Favorite, type FavoriteRow } from './views.model.ts';

/** The cards that the caller has starred and still sees. */
export const favoriteList = defineList({
  name: 'favorites',
  filters: {
    type: OptionalText(2000, 'Comma-separated card types'),
  },
  from: 'favorites f join cards c on c.id = f.card_id',
  id: 'f.id',
  sorts: {
    ...columnSorts('f', Favorite, 'created_at'),
    card_name: { sql: 'c.name_key', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'c.name_key',
  members: { ...columnMembers('f', Favorite.shown), card_name: 'c.name', card_type: 'c.type' },
  where: (ctx, { type }) => [
    fragment`f.user_id = ${ctx.caller.userId}::uuid`,
    { ...visibleCards(ctx), visibility: true },
    ...(type ? [fragment`c.type = any(${type.split(',')}::text[])`] : []),
  ],
});

/** Stars a card for the caller; does nothing where it is starred already. @throws EstateError `not_found`, `forbidden`. */
export async function addFavorite(ctx: Ctx, cardId: string): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await requireVisibleCard(sql, ctx, cardId);
    const key = { user_id: ctx.caller.userId!, card_id: card.id };
    const [created] = await query(sql).rows<{
      row: FavoriteRow;
      is_new: boolean;
    }>`insert into favorites as f (user_id,
      card_id) values (${key.user_id}, ${key.card_id}) on conflict (user_id, card_id) do update set card_id = f.card_id
       returning to_jsonb(f) as row, old.id is null as is_new`;
    if (created!.is_new) work.emit(favoriteEvent(null, created!.row));
    const { id } = created!.row;
    return (await findItem(sql, favoriteList, id))!;
  });
}

/** Removes the caller's star from a card. @throws EstateError `not_found` when the caller has not starred it. */
export async function removeFavorite(ctx: Ctx, cardId: string): Promise<void> {
  await command(ctx, async (work) => {
    const key = { user_id: ctx.caller.userId, card_id: cardId };
    const [deleted] = await deleteRows(work.sql, Favorite, (query) => query.where(key));
    if (!deleted) throw notFound('favorite', cardId);
    work.emit(favoriteEvent(deleted, null));
  });
}

/** The event of a card that a user starred or no longer stars, which only that user may read. */
export function favoriteEvent(before: FavoriteRow | null, after: FavoriteRow | null): EventDraft {
  const { id, user_id } = (after ?? before)!;
  return { ...rowEvent('favorite', before, after, { id }), recipient_id: user_id };
}
