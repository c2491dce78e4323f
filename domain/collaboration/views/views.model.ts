import Type from 'typebox';
import { visibilities } from '../../kernel/lists/lists.shared.ts';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, closed, Key, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** A card that a user has starred. */
export class Favorite extends rowModel('favorites', {
  id: Uuid,
  user_id: Internal(Uuid),
  card_id: Uuid,
  created_at: Timestamp,
}) {}
export type FavoriteRow = RowOf<typeof Favorite>;

/** A saved view of the inventory. */
export class Bookmark extends rowModel('bookmarks', {
  id: Uuid,
  owner_id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  card_type: Nullable(
    Type.String({
      ...Key,
      description:
        'The type for which the view is offered, and by which `is_default` is counted. It selects no cards, also in the feed: `filters.types` does',
    }),
  ),
  filters: Nullable(OpenObject),
  columns: Nullable(Type.Array(Type.String())),
  sort: Nullable(OpenObject),
  layout: Nullable(OpenObject),
  is_default: Type.Boolean({ description: 'The owner’s default view of the card type; at most one' }),
  visibility: Choice(visibilities),
  odata_enabled: Type.Boolean(),
  shared_with: Type.Array(Type.Object({ user_id: Uuid, can_edit: Type.Boolean() }, closed)),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type BookmarkRow = RowOf<typeof Bookmark>;
