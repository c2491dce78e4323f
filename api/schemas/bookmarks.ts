import Type from 'typebox';
import { bookmarkInput } from '../../domain/collaboration/views/bookmarks.input.ts';
import { Bookmark, Favorite } from '../../domain/collaboration/views/views.model.ts';
import {
  closed,
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';

export const BookmarkCreateBody = object({ ...bookmarkInput, name: Bookmark.columns.name });
export const BookmarkPatchBody = object(bookmarkInput);

export const BookmarkSchema = component('Bookmark', {
  ...Bookmark.columns,
  owner_name: Nullable(Type.String()),
  is_owner: Type.Boolean(),
  can_edit: Type.Boolean(),
  shared_with: Type.Array(
    object({ user_id: Uuid, can_edit: Type.Boolean(), display_name: Nullable(Type.String()) }),
  ),
  odata_url: Nullable(Type.String()),
});
/** A bookmark in a list, with the requested members. */
export const BookmarkItemSchema = Type.Partial(BookmarkSchema, { $id: 'BookmarkItem', ...closed });

const { user_id: _userId, ...favoriteColumns } = Favorite.columns;
export const FavoriteSchema = itemComponent('Favorite', {
  ...favoriteColumns,
  card_name: Type.String(),
  card_type: Type.String(),
});

export const BookmarkFeedSchema = component('BookmarkFeed', {
  '@odata.context': Type.String(),
  '@odata.count': Type.Integer({ minimum: 0 }),
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
