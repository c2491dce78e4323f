import Type from 'typebox';
import { addTags, removeTag } from '../../../domain/inventory/tags/tags.cards.ts';
import {
  createTag,
  createTagGroup,
  deleteTag,
  deleteTagGroup,
  patchTag,
  patchTagGroup,
} from '../../../domain/inventory/tags/tags.commands.ts';
import { groupList } from '../../../domain/inventory/tags/tags.list.ts';
import { Tag } from '../../../domain/inventory/tags/tags.model.ts';
import { TagGroup } from '../../../domain/kernel/metamodel/metamodel.model.ts';
import { component, itemComponent, itemsIn, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { CardSchema } from '../cards/cards.schemas.ts';

const TagSchema = component('Tag', Tag.columns);
const TagGroupSchema = itemComponent('TagGroup', { ...TagGroup.columns, tags: Type.Array(TagSchema) });

const { name, description, mode, mandatory, restrict_to_types } = TagGroup.columns;
const groupBodies = bodiesOf({ name }, { description, mode, mandatory, restrict_to_types });

const { color, sort_order } = Tag.columns;
const tagBodies = bodiesOf({ name }, { description, color, sort_order });

const CardTagsBody = Type.Array(Uuid, itemsIn(1, 200, 'Ids of tags'));

const onCard = { permission: 'login', permissionNote: 'inventory.edit or card.edit' } as const;

/** Tag groups, tags, and the tags of cards. */
export function registerTagRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Tags', permission: 'tags.manage' });

  routes.list('listTagGroups', '/api/v1/tag-groups', groupList, {
    summary: 'List tag groups with their tags',
    permission: 'login',
    responses: page('Tag groups', TagGroupSchema),
  });

  routes.post('createTagGroup', '/api/v1/tag-groups', {
    summary: 'Create a tag group',
    body: groupBodies.create,
    responses: created('The group', TagGroupSchema),
    errors: ['name_taken', 'metamodel_busy'],
    handler: ({ ctx, body }) => createTagGroup(ctx, body),
  });

  routes.patch('patchTagGroup', '/api/v1/tag-groups/:group_id', {
    summary: 'Change a tag group',
    description:
      'Refused with `tag_in_use` while cards have tags that would no longer be allowed: several tags of a `single` group, or a tag on a card whose type is not in `restrict_to_types`.',
    body: groupBodies.patch,
    responses: ok('The group', TagGroupSchema),
    errors: ['name_taken', 'tag_in_use', 'metamodel_busy'],
    handler: ({ ctx, params, body }) => patchTagGroup(ctx, params.group_id, body),
  });

  routes.delete('deleteTagGroup', '/api/v1/tag-groups/:group_id', {
    summary: 'Delete a tag group with its tags',
    description: 'The tags are removed from all cards.',
    errors: ['metamodel_busy'],
    handler: ({ ctx, params }) => deleteTagGroup(ctx, params.group_id),
  });

  routes.post('createTag', '/api/v1/tag-groups/:group_id/tags', {
    summary: 'Add a tag to a group',
    body: tagBodies.create,
    responses: created('The tag', TagSchema),
    errors: ['name_taken', 'metamodel_busy'],
    handler: ({ ctx, params, body }) => createTag(ctx, params.group_id, body),
  });

  routes.patch('patchTag', '/api/v1/tag-groups/:group_id/tags/:tag_id', {
    summary: 'Change a tag',
    body: tagBodies.patch,
    responses: ok('The tag', TagSchema),
    errors: ['name_taken', 'metamodel_busy'],
    handler: ({ ctx, params, body }) => patchTag(ctx, params.group_id, params.tag_id, body),
  });

  routes.delete('deleteTag', '/api/v1/tag-groups/:group_id/tags/:tag_id', {
    summary: 'Delete a tag',
    description: 'It is removed from all cards.',
    errors: ['metamodel_busy'],
    handler: ({ ctx, params }) => deleteTag(ctx, params.group_id, params.tag_id),
  });

  routes.post('addCardTags', '/api/v1/cards/:id/tags', {
    summary: 'Add tags to a card',
    ...onCard,
    body: CardTagsBody,
    responses: created('The card', CardSchema),
    errors: ['single_tag'],
    handler: ({ ctx, params, body }) => addTags(ctx, params.id, body),
  });

  routes.delete('removeCardTag', '/api/v1/cards/:id/tags/:tag_id', {
    summary: 'Remove a tag from a card',
    ...onCard,
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeTag(ctx, params.id, params.tag_id),
  });
}
