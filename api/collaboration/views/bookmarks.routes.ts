import Type from 'typebox';
import {
  createBookmark,
  deleteBookmark,
  patchBookmark,
} from '../../../domain/collaboration/views/bookmarks.commands.ts';
import { bookmarkFeed } from '../../../domain/collaboration/views/bookmarks.feed.ts';
import { bookmarkSorts, listBookmarks } from '../../../domain/collaboration/views/bookmarks.list.ts';
import { sharedFilter } from '../../../domain/kernel/lists/lists.shared.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/bookmarks.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const permissionNote = 'bookmarks.share to share; bookmarks.odata to open a feed';

/** Saved views of the inventory. */
export function registerBookmarkRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Bookmarks', permission: 'bookmarks.manage' });

  routes.get('/api/v1/bookmarks', {
    id: 'listBookmarks',
    summary: 'List your saved views, those shared with you, and public ones',
    query: listQuery(bookmarkSorts, 'name', { filter: sharedFilter }),
    answers: page('Bookmarks', schemas.BookmarkItemSchema),
    handler: ({ ctx, query }) => listBookmarks(ctx, query),
  });

  routes.post('/api/v1/bookmarks', {
    id: 'createBookmark',
    summary: 'Save a view of the inventory',
    permissionNote,
    body: schemas.BookmarkCreateBody,

    answers: created('The bookmark', schemas.BookmarkSchema),
    handler: ({ ctx, body }) => createBookmark(ctx, body),
  });

  routes.patch('/api/v1/bookmarks/:bm_id', {
    id: 'patchBookmark',
    summary: 'Change a saved view',
    description:
      'Users with whom it is shared for editing may change it; only the owner may change `is_default`, `visibility`, `odata_enabled` and `shared_with`.',
    permissionNote,
    body: schemas.BookmarkPatchBody,

    headers: ['If-Match'],
    answers: ok('The bookmark', schemas.BookmarkSchema),
    handler: ({ ctx, params, body }) => patchBookmark(ctx, params.bm_id, body),
  });

  routes.delete('/api/v1/bookmarks/:bm_id', {
    id: 'deleteBookmark',
    summary: 'Delete a saved view of your own',
    handler: ({ ctx, params }) => deleteBookmark(ctx, params.bm_id),
  });

  routes.get('/api/v1/bookmarks/:bm_id/odata', {
    id: 'readBookmarkFeed',
    summary: 'Read the active cards of a saved view, in the format of OData',
    permission: 'inventory.export',
    query: object({
      page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'From 1' }),
      page_size: Type.Integer({
        minimum: 1,
        maximum: 10_000,
        default: 1000,
        description: 'Cards per page',
      }),
    }),
    answers: ok('Cards', schemas.BookmarkFeedSchema),
    handler: ({ ctx, params, query }) => bookmarkFeed(ctx, params.bm_id, query),
  });
}
