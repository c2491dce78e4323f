import Type from 'typebox';
import { bookmarkInput } from '../../domain/collaboration/views/bookmarks.input.ts';
import { Bookmark, Favorite } from '../../domain/collaboration/views/views.model.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

export const BookmarkCreateBody = Type.Object({ ...bookmarkInput, name: Bookmark.columns.name }, closed);
export const BookmarkPatchBody = Type.Object(bookmarkInput, closed);

export const BookmarkSchema = Type.Object(
  {
    ...Bookmark.columns,
    owner_name: Nullable(Type.String()),
    is_owner: Type.Boolean(),
    can_edit: Type.Boolean(),
    shared_with: Type.Array(
      Type.Object({ user_id: Uuid, can_edit: Type.Boolean(), display_name: Nullable(Type.String()) }, closed),
    ),
    odata_url: Nullable(Type.String()),
  },
  { $id: 'Bookmark', ...closed },
);
/** A bookmark in a list, cut to the requested members. */
export const BookmarkItemSchema = Type.Partial(BookmarkSchema, { $id: 'BookmarkItem', ...closed });

const { user_id: _userId, ...favoriteColumns } = Favorite.columns;
export const FavoriteSchema = Type.Partial(
  Type.Object({ ...favoriteColumns, card_name: Type.String(), card_type: Type.String() }),
  { $id: 'Favorite', ...closed },
);

export const BookmarkFeedSchema = Type.Object(
  {
    '@odata.context': Type.String(),
    '@odata.count': Type.Integer({ minimum: 0 }),
    value: Type.Array(
      Type.Object(
        {
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
        },
        closed,
      ),
    ),
    '@odata.nextLink': Type.Optional(Type.String()),
  },
  { $id: 'BookmarkFeed', ...closed },
);
