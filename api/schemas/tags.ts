import Type from 'typebox';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { Color } from './common.ts';

const Mode = Type.Union([Type.Literal('single'), Type.Literal('multi')]);
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Description = Type.Optional(Nullable(Type.String({ maxLength: 2000 })));
const Types = Nullable(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200, uniqueItems: true }));

export const TagSchema = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    description: Nullable(Type.String()),
    color: Nullable(Type.String()),
    sort_order: Type.Integer(),
    tag_group_id: Uuid,
  },
  { $id: 'Tag', ...closed },
);

export const TagGroupSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    name: Type.String(),
    description: Nullable(Type.String()),
    mode: Mode,
    mandatory: Type.Boolean(),
    restrict_to_types: Nullable(Type.Array(Type.String())),
    tags: Type.Array(Type.Ref('Tag#')),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  { $id: 'TagGroup', ...closed },
);

export const FavoriteSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    card_id: Uuid,
    card_name: Type.String(),
    card_type: Type.String(),
    created_at: Timestamp,
  }),
  { $id: 'Favorite', ...closed },
);

const group = {
  description: Description,
  mode: Type.Optional(Mode),
  mandatory: Type.Optional(
    Type.Boolean({ description: 'Whether cards need a tag of it for approval and full data quality' }),
  ),
  restrict_to_types: Type.Optional(Types),
};
export const TagGroupCreateBody = Type.Object({ name: Name, ...group }, closed);
export const TagGroupPatchBody = Type.Object({ name: Type.Optional(Name), ...group }, closed);

const tag = {
  description: Description,
  color: Type.Optional(Nullable(Color)),
  sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
};
export const TagCreateBody = Type.Object({ name: Name, ...tag }, closed);
export const TagPatchBody = Type.Object({ name: Type.Optional(Name), ...tag }, closed);

export const CardTagsBody = Type.Array(Uuid, {
  minItems: 1,
  maxItems: 200,
  description: 'Ids of tags',
});
