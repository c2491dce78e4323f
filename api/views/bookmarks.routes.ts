import Type, { type TSchema } from 'typebox';
import {
  createBookmark,
  deleteBookmark,
  patchBookmark,
} from '../../domain/collaboration/views/bookmarks.commands.ts';
import { bookmarkFeed } from '../../domain/collaboration/views/bookmarks.feed.ts';
import { bookmarkSorts, listBookmarks } from '../../domain/collaboration/views/bookmarks.list.ts';
import { sharedFilter } from '../../domain/kernel/lists/lists.shared.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/bookmarks.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Bookmarks';
const permission = 'bookmarks.manage';
const permissionNote = 'bookmarks.share to share; bookmarks.odata to open a feed';
const BookmarkParams = Type.Object({ bm_id: Uuid }, closed);

/** Saved views of the inventory. */
export function registerBookmarkRoutes(app: App): void {
  const shared: TSchema[] = [schemas.BookmarkSchema, schemas.BookmarkItemSchema, schemas.BookmarkFeedSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/bookmarks',
    id: 'listBookmarks',
    tag,
    summary: 'List your saved views, those shared with you, and public ones',
    permission,
    query: listQuery(bookmarkSorts, 'name', { filter: sharedFilter }),
    answers: { 200: { description: 'Bookmarks', schema: listAnswer(Type.Ref('BookmarkItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listBookmarks(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/bookmarks',
    id: 'createBookmark',
    tag,
    summary: 'Save a view of the inventory',
    permission,
    permissionNote,
    body: schemas.BookmarkCreateBody,
    bodyExample: {
      name: 'Applications to approve',
      card_type: 'Application',
      filters: { types: ['Application'], approvalStatuses: ['DRAFT', 'BROKEN'] },
      columns: ['name', 'approval_status'],
    },
    answers: { 201: { description: 'The bookmark', schema: Type.Ref('Bookmark#'), headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createBookmark(ctx, body)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/bookmarks/:bm_id',
    id: 'patchBookmark',
    tag,
    summary: 'Change a saved view',
    description:
      'Users with whom it is shared for editing may change it; only the owner may change `is_default`, `visibility`, `odata_enabled` and `shared_with`.',
    permission,
    permissionNote,
    params: BookmarkParams,
    body: schemas.BookmarkPatchBody,
    bodyExample: { name: 'Drafts' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The bookmark', schema: Type.Ref('Bookmark#') } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchBookmark(ctx, params.bm_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/bookmarks/:bm_id',
    id: 'deleteBookmark',
    tag,
    summary: 'Delete a saved view of your own',
    permission,
    params: BookmarkParams,
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteBookmark(ctx, params.bm_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/bookmarks/:bm_id/odata',
    id: 'readBookmarkFeed',
    tag,
    summary: 'Read the active cards of a saved view, in the format of OData',
    permission: 'inventory.export',
    params: BookmarkParams,
    query: Type.Object(
      {
        page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'From 1' }),
        page_size: Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 1000,
          description: 'Cards on a page',
        }),
      },
      closed,
    ),
    answers: { 200: { description: 'Cards', schema: Type.Ref('BookmarkFeed#') } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await bookmarkFeed(ctx, params.bm_id, query)),
  });
}
