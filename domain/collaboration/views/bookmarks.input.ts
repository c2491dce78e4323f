import Type, { type Static } from 'typebox';
import {
  Choice,
  closed,
  Key,
  keyed,
  Nullable,
  OptionalFlag,
  OptionalText,
  optional,
  type StaticOf,
  Uuid,
} from '../../kernel/shapes.ts';
import { Bookmark } from './views.model.ts';

const Keys = Type.Optional(Type.Array(Key, { maxItems: 200 }));
const Scalar = Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()]);

/** The cards that a view shows; absent and empty members do not filter. */
export const ViewFilters = Type.Object(
  {
    types: Keys,
    search: Type.Optional(Type.String({ maxLength: 200 })),
    expression: OptionalText(4000, 'A condition in the filter language, also for cards without a value'),
    mine: OptionalFlag('Only cards on which the reader has a role'),
    subtypes: Keys,
    ...optional({
      approvalStatuses: Type.Array(Choice(['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN']), { maxItems: 4 }),
      lifecyclePhases: Type.Array(Choice(['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife']), {
        maxItems: 5,
        description: 'The current phase',
      }),
      dataQualityMin: Nullable(Type.Number({ minimum: 0, maximum: 100 })),
      showArchived: Type.Boolean({ description: 'Ignored by feeds, which have active cards only' }),
      tagIds: Type.Array(Uuid, { maxItems: 200, description: 'Cards with one of them' }),
      attributes: Type.Record(Key, Type.Union([Scalar, Type.Array(Scalar, { maxItems: 100 }), Type.Null()]), {
        maxProperties: 50,
        description: 'By key: a value, several values of which one must match, or null for no value',
      }),
      relations: Type.Record(Key, Type.Union([Type.Array(Uuid, { maxItems: 100 }), Type.Literal(true)]), {
        maxProperties: 20,
        description: 'By relation type: ids of related cards of which one must match, or true for any card',
      }),
    }),
  },
  closed,
);

export type BookmarkFilters = Static<typeof ViewFilters>;

const sorted = {
  field: Type.String({ minLength: 1, maxLength: 120 }),
  direction: Type.Optional(Choice(['asc', 'desc'])),
};
export const ViewSort = Type.Object(
  {
    ...sorted,
    further: Type.Optional(
      Type.Array(Type.Object(sorted, closed), {
        maxItems: 3,
        description: 'By what cards with one value are sorted',
      }),
    ),
  },
  closed,
);
export const ViewLayout = Type.Object(
  optional({
    group_by: Type.String({ minLength: 1, maxLength: 120, description: 'A column' }),
    collapsed: Type.Array(Type.String({ maxLength: 120 }), { maxItems: 200, description: 'Groups' }),
    widths: keyed(120, Type.Integer({ minimum: 20, maximum: 2000 }), {
      maxProperties: 200,
      description: 'Pixels by column',
    }),
    frozen: Type.Integer({ minimum: 0, maximum: 20, description: 'Columns that stay in place' }),
    density: Choice(['compact', 'normal', 'comfortable']),
  }),
  closed,
);
/** A user with whom something is shared; to read it, unless `can_edit`. */
export const Share = Type.Object({ user_id: Uuid, can_edit: Type.Optional(Type.Boolean()) }, closed);
export const ViewShares = Type.Array(Share, { maxItems: 200 });
export const ViewColumns = Type.Array(Type.String({ maxLength: 120 }), { maxItems: 200 });

/** What a user may write of a bookmark. */
export const bookmarkInput = optional({
  name: Bookmark.columns.name,
  card_type: Bookmark.columns.card_type,
  filters: Nullable(ViewFilters),
  columns: Nullable(ViewColumns),
  sort: Nullable(ViewSort),
  layout: Nullable(ViewLayout),
  is_default: Type.Boolean({ description: 'Your default view of the card type; replaces the present one' }),
  visibility: Bookmark.columns.visibility,
  odata_enabled: Bookmark.columns.odata_enabled,
  shared_with: Nullable(ViewShares),
});
export type BookmarkInput = StaticOf<typeof bookmarkInput>;
