import Type from 'typebox';
import {
  ViewColumns,
  ViewFilters,
  ViewShares,
  ViewSort,
} from '../../domain/collaboration/views/bookmarks.input.ts';
import { closed, Key, Nullable, OpenObject, oneOf, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Visibility = oneOf('private', 'shared', 'public');
const Name = Type.String({ minLength: 1, maxLength: 200 });

const members = {
  card_type: Type.Optional(Nullable(Key)),
  filters: Type.Optional(Nullable(ViewFilters)),
  columns: Type.Optional(Nullable(ViewColumns)),
  sort: Type.Optional(Nullable(ViewSort)),
  is_default: Type.Optional(
    Type.Boolean({ description: 'Your default view of the card type; ends what was it before' }),
  ),
  visibility: Type.Optional(Visibility),
  odata_enabled: Type.Optional(Type.Boolean()),
  shared_with: Type.Optional(Nullable(ViewShares)),
};
export const BookmarkCreateBody = Type.Object({ name: Name, ...members }, closed);
export const BookmarkPatchBody = Type.Object({ name: Type.Optional(Name), ...members }, closed);

export const BookmarkSchema = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    card_type: Nullable(Type.String()),
    filters: Nullable(OpenObject),
    columns: Nullable(Type.Array(Type.String())),
    sort: Nullable(OpenObject),
    is_default: Type.Boolean(),
    visibility: Visibility,
    odata_enabled: Type.Boolean(),
    owner_id: Uuid,
    owner_name: Nullable(Type.String()),
    is_owner: Type.Boolean(),
    can_edit: Type.Boolean(),
    shared_with: Type.Array(
      Type.Object({ user_id: Uuid, can_edit: Type.Boolean(), display_name: Nullable(Type.String()) }, closed),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    odata_url: Nullable(Type.String()),
  },
  { $id: 'Bookmark', ...closed },
);
/** A bookmark in a list, cut to the members that were asked for. */
export const BookmarkItemSchema = Type.Partial(BookmarkSchema, { $id: 'BookmarkItem', ...closed });

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
