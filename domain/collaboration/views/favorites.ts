import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { requireSeenCard } from '../attended.card.ts';
import { itemText } from '../items.ts';
import { favoriteEvent } from './favorites.events.ts';

const favoriteList: ListSpec = {
  name: 'favorites',
  from: 'favorites f join cards c on c.id = f.card_id',
  id: 'f.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 'f.created_at', type: 'timestamptz', immutable: true },
    card_name: { sql: 'c.name_key', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'c.name_key',
  members: {
    id: 'f.id',
    card_id: 'f.card_id',
    card_name: 'c.name',
    card_type: 'c.type',
    created_at: 'utc(f.created_at)',
  },
};

/** The cards that the caller has starred and still sees. */
export async function listFavorites(ctx: Ctx, params: ListParams & { type?: string }): Promise<JsonText> {
  const where: Condition[] = [
    { sql: 'f.user_id = ?::uuid', bindings: [ctx.caller.userId] },
    { ...visibleCards(ctx), visibility: true },
  ];
  if (params.type) where.push({ sql: 'c.type = any(?::text[])', bindings: [params.type.split(',')] });
  return await runList(ctx.db, favoriteList, where, params, { owner: ctx.caller.userId });
}

/** Stars a card for the caller; one that is starred already stays so. @throws EstateError `not_found`, `forbidden`. */
export async function addFavorite(ctx: Ctx, cardId: string): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const card = await requireSeenCard(sql, ctx, cardId);
    const key = { user_id: ctx.caller.userId, card_id: card.id };
    const [made] = await sql('favorites')
      .insert(key)
      .onConflict(['user_id', 'card_id'])
      .ignore()
      .returning(sql.raw('to_jsonb(favorites) as "row"'));
    if (made) work.emit(favoriteEvent(null, made.row));
    const { id } = made ? { id: made.row.id } : await sql('favorites').where(key).first('id');
    return (await itemText(sql, favoriteList, id))!;
  });
}

/** Takes the star off. @throws EstateError `not_found` when the caller has not starred the card. */
export async function removeFavorite(ctx: Ctx, cardId: string): Promise<void> {
  await command(ctx, async (work) => {
    const [gone] = await work
      .sql('favorites')
      .where({ user_id: ctx.caller.userId, card_id: cardId })
      .delete()
      .returning(work.sql.raw('to_jsonb(favorites) as "row"'));
    if (!gone) throw notFound('favorite', cardId);
    work.emit(favoriteEvent(gone.row, null));
  });
}

export const favoriteUndo: UndoSpec[] = [
  {
    entity: 'favorite',
    table: 'favorites',
    events: { created: ['favorite.created'], deleted: ['favorite.deleted'] },
  },
];
