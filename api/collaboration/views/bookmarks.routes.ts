import Type from 'typebox';
import {
  bookmarkFeed,
  bookmarkList,
  createBookmark,
  deleteBookmark,
  patchBookmark,
} from '../../../domain/collaboration/views/bookmarks.commands.ts';
import { bookmarkInput } from '../../../domain/collaboration/views/bookmarks.input.ts';
import { addFavorite, favoriteList, removeFavorite } from '../../../domain/collaboration/views/favorites.ts';
import { Bookmark, Favorite } from '../../../domain/collaboration/views/views.model.ts';
import {
  Count,
  component,
  IntegerIn,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const BookmarkCreateBody = object({ ...bookmarkInput, name: Bookmark.columns.name });
const BookmarkPatchBody = object(bookmarkInput);

const BookmarkSchema = component('Bookmark', {
  ...Bookmark.columns,
  owner_name: Nullable(Type.String()),
  is_owner: Type.Boolean(),
  can_edit: Type.Boolean(),
  shared_with: Type.Array(
    object({ user_id: Uuid, can_edit: Type.Boolean(), display_name: Nullable(Type.String()) }),
  ),
  odata_url: Nullable(Type.String()),
});
const FavoriteSchema = itemComponent('Favorite', {
  ...Favorite.shown.columns,
  card_name: Type.String(),
  card_type: Type.String(),
});

const BookmarkFeedSchema = component('BookmarkFeed', {
  '@odata.context': Type.String(),
  '@odata.count': Count,
  value: Type.Array(
    object({
      id: Uuid,
      type: Type.String(),
      subtype: Nullable(Type.String()),
      name: Type.String(),
      description: Nullable(Type.String()),
      status: Type.String(),
      approval_status: Type.String(),
      data_quality: Type.Number(),
      lifecycle: Nullable(OpenObject),
      attributes: OpenObject,
      external_id: Nullable(Type.String()),
      alias: Nullable(Type.String()),
      created_at: Timestamp,
      updated_at: Timestamp,
    }),
  ),
  '@odata.nextLink': Type.Optional(Type.String()),
});

const permissionNote = 'bookmarks.share to share; bookmarks.odata to open a feed';

/** Saved views of the inventory. */
export function registerBookmarkRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Bookmarks', permission: 'bookmarks.manage' });

  routes.list('listBookmarks', '/api/v1/bookmarks', bookmarkList, {
    summary: 'List your saved views, those shared with you, and public ones',
    responses: page('Bookmarks', BookmarkSchema),
  });

  routes.post('createBookmark', '/api/v1/bookmarks', {
    summary: 'Save a view of the inventory',
    permissionNote,
    body: BookmarkCreateBody,
    responses: created('The bookmark', BookmarkSchema),
    handler: ({ ctx, body }) => createBookmark(ctx, body),
  });

  routes.patch('patchBookmark', '/api/v1/bookmarks/:bm_id', {
    summary: 'Change a saved view',
    description:
      'Users with whom it is shared for editing may change it; only the owner may change `is_default`, `visibility`, `odata_enabled` and `shared_with`.',
    permissionNote,
    body: BookmarkPatchBody,
    responses: ok('The bookmark', BookmarkSchema),
    handler: ({ ctx, params, body }) => patchBookmark(ctx, params.bm_id, body),
  });

  routes.delete('deleteBookmark', '/api/v1/bookmarks/:bm_id', {
    summary: 'Delete a saved view of your own',
    handler: ({ ctx, params }) => deleteBookmark(ctx, params.bm_id),
  });

  routes.get('readBookmarkFeed', '/api/v1/bookmarks/:bm_id/odata', {
    summary: 'Read the active cards of a saved view, in the format of OData',
    permission: 'inventory.export',
    query: object({
      page: IntegerIn(1, 1_000_000, 'From 1', 1),
      page_size: IntegerIn(1, 10_000, 'Cards per page', 1000),
    }),
    responses: ok('Cards', BookmarkFeedSchema),
    handler: ({ ctx, params, query }) => bookmarkFeed(ctx, params.bm_id, query),
  });
}

/** Favorite cards of users. */
export function registerFavoriteRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Favorites', permission: 'login', scope: 'account' });

  routes.list('listFavorites', '/api/v1/favorites', favoriteList, {
    summary: 'List your favorite cards',
    responses: page('Favorites', FavoriteSchema),
  });

  routes.post('addFavorite', '/api/v1/favorites/:card_id', {
    summary: 'Star a card',
    description: 'It has no effect on a card that is already a favorite.',
    permissionNote: 'inventory.view or card.view',
    responses: created('The favorite', FavoriteSchema),
    handler: ({ ctx, params }) => addFavorite(ctx, params.card_id),
  });

  routes.delete('removeFavorite', '/api/v1/favorites/:card_id', {
    summary: 'Remove a card from your favorites',
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeFavorite(ctx, params.card_id),
  });
}
