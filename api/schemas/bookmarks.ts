import Type from 'typebox';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from './common.ts';

const Key = Type.String({ minLength: 1, maxLength: 100 });
const Keys = Type.Optional(Type.Array(Key, { maxItems: 200 }));
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const Scalar = Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()]);

const Filters = Type.Object(
  {
    types: Keys,
    search: Type.Optional(Type.String({ maxLength: 200 })),
    subtypes: Keys,
    approvalStatuses: Type.Optional(
      Type.Array(oneOf('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'), { maxItems: 4 }),
    ),
    lifecyclePhases: Type.Optional(
      Type.Array(oneOf('plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'), {
        maxItems: 5,
        description: 'The phase of today',
      }),
    ),
    dataQualityMin: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 100 }))),
    showArchived: Type.Optional(Type.Boolean({ description: 'Feeds hold active cards whatever it says' })),
    tagIds: Type.Optional(Type.Array(Uuid, { maxItems: 200, description: 'Cards with one of them' })),
    attributes: Type.Optional(
      Type.Record(Key, Type.Union([Scalar, Type.Array(Scalar, { maxItems: 100 }), Type.Null()]), {
        maxProperties: 50,
        description: 'By key: a value, several of which one must fit, or null for an empty one',
      }),
    ),
    relations: Type.Optional(
      Type.Record(Key, Type.Union([Type.Array(Uuid, { maxItems: 100 }), Type.Literal(true)]), {
        maxProperties: 20,
        description: 'By relation type: ids of related cards of which one must fit, or true for any',
      }),
    ),
  },
  closed,
);

const Sort = Type.Object(
  { field: Type.String({ minLength: 1, maxLength: 120 }), direction: Type.Optional(oneOf('asc', 'desc')) },
  closed,
);
const Share = Type.Object({ user_id: Uuid, can_edit: Type.Optional(Type.Boolean()) }, closed);
const Visibility = oneOf('private', 'shared', 'public');
const Name = Type.String({ minLength: 1, maxLength: 200 });

const members = {
  card_type: Type.Optional(Nullable(Key)),
  filters: Type.Optional(Nullable(Filters)),
  columns: Type.Optional(Nullable(Type.Array(Type.String({ maxLength: 120 }), { maxItems: 200 }))),
  sort: Type.Optional(Nullable(Sort)),
  is_default: Type.Optional(
    Type.Boolean({ description: 'Your default view of the card type; ends what was it before' }),
  ),
  visibility: Type.Optional(Visibility),
  odata_enabled: Type.Optional(Type.Boolean()),
  shared_with: Type.Optional(Nullable(Type.Array(Share, { maxItems: 200 }))),
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
