import {
  addFavorite,
  favoriteFilters,
  favoriteSorts,
  listFavorites,
  removeFavorite,
} from '../../../domain/collaboration/views/favorites.ts';
import { created, page, routesOf } from '../../operation.ts';
import { FavoriteSchema } from '../../schemas/bookmarks.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

/** Favorite cards of users. */
export function registerFavoriteRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Favorites' });

  routes.get('/api/v1/favorites', {
    id: 'listFavorites',
    summary: 'List your favorite cards',
    permission: 'login',
    scope: 'account',
    query: listQuery(favoriteSorts, 'created_at', favoriteFilters),
    answers: page('Favorites', FavoriteSchema),
    handler: ({ ctx, query }) => listFavorites(ctx, query),
  });

  routes.post('/api/v1/favorites/:card_id', {
    id: 'addFavorite',
    summary: 'Star a card',
    description: 'It has no effect on a card that is already a favorite.',
    permission: 'login',
    scope: 'account',
    permissionNote: 'inventory.view or card.view',
    answers: created('The favorite', FavoriteSchema),
    handler: ({ ctx, params }) => addFavorite(ctx, params.card_id),
  });

  routes.delete('/api/v1/favorites/:card_id', {
    id: 'removeFavorite',
    summary: 'Remove a card from your favorites',
    permission: 'login',
    scope: 'account',
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeFavorite(ctx, params.card_id),
  });
}
