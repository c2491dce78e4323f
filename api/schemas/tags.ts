import Type from 'typebox';
import { Tag } from '../../domain/inventory/tags/tags.model.ts';
import { TagGroup } from '../../domain/kernel/metamodel/metamodel.model.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';

export const TagSchema = Type.Object(Tag.columns, { $id: 'Tag', ...closed });
export const TagGroupSchema = Type.Partial(
  Type.Object({ ...TagGroup.columns, tags: Type.Array(TagSchema) }),
  { $id: 'TagGroup', ...closed },
);

const { name, description, mode, mandatory, restrict_to_types } = TagGroup.columns;
const group = Type.Partial(Type.Object({ description, mode, mandatory, restrict_to_types })).properties;
export const TagGroupCreateBody = Type.Object({ name, ...group }, closed);
export const TagGroupPatchBody = Type.Object({ name: Type.Optional(name), ...group }, closed);

const { color, sort_order } = Tag.columns;
const tag = Type.Partial(Type.Object({ description, color, sort_order })).properties;
export const TagCreateBody = Type.Object({ name, ...tag }, closed);
export const TagPatchBody = Type.Object({ name: Type.Optional(name), ...tag }, closed);

export const CardTagsBody = Type.Array(Uuid, {
  minItems: 1,
  maxItems: 200,
  description: 'Ids of tags',
});
