import Type from 'typebox';
import { Tag } from '../../domain/inventory/tags/tags.model.ts';
import { TagGroup } from '../../domain/kernel/metamodel/metamodel.model.ts';
import { component, itemComponent, object, Uuid } from '../../domain/kernel/shapes.ts';

export const TagSchema = component('Tag', Tag.columns);
export const TagGroupSchema = itemComponent('TagGroup', { ...TagGroup.columns, tags: Type.Array(TagSchema) });

const { name, description, mode, mandatory, restrict_to_types } = TagGroup.columns;
const group = Type.Partial(Type.Object({ description, mode, mandatory, restrict_to_types })).properties;
export const TagGroupCreateBody = object({ name, ...group });
export const TagGroupPatchBody = object({ name: Type.Optional(name), ...group });

const { color, sort_order } = Tag.columns;
const tag = Type.Partial(Type.Object({ description, color, sort_order })).properties;
export const TagCreateBody = object({ name, ...tag });
export const TagPatchBody = object({ name: Type.Optional(name), ...tag });

export const CardTagsBody = Type.Array(Uuid, {
  minItems: 1,
  maxItems: 200,
  description: 'Ids of tags',
});
