import Type from 'typebox';
import {
  addFavorite,
  favoriteFilters,
  favoriteSorts,
  listFavorites,
  removeFavorite,
} from '../../domain/collaboration/views/favorites.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { FavoriteSchema } from '../schemas/bookmarks.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Favorites';
const CardParams = Type.Object({ card_id: Uuid }, closed);

/** The cards that users have starred. */
export function registerFavoriteRoutes(app: App): void {
  app.addSchema(FavoriteSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/favorites',
    id: 'listFavorites',
    tag,
    summary: 'List the cards that you have starred',
    permission: 'login',
    scope: 'account',
    query: listQuery(favoriteSorts, 'created_at', favoriteFilters),
    answers: { 200: { description: 'Favorites', schema: listAnswer(Type.Ref('Favorite#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listFavorites(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/favorites/:card_id',
    id: 'addFavorite',
    tag,
    summary: 'Star a card',
    description: 'A card that is starred already stays so.',
    permission: 'login',
    scope: 'account',
    permissionNote: 'inventory.view or card.view',
    params: CardParams,
    answers: { 201: { description: 'The favorite', schema: Type.Ref('Favorite#'), headers: ['ETag'] } },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply.code(201), await addFavorite(ctx, params.card_id)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/favorites/:card_id',
    id: 'removeFavorite',
    tag,
    summary: 'Take the star off a card',
    permission: 'login',
    scope: 'account',
    params: CardParams,
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await removeFavorite(ctx, params.card_id);
      return reply.code(204).send();
    },
  });
}
