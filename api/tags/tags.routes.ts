import Type, { type TSchema } from 'typebox';
import { addTags, removeTag } from '../../domain/inventory/tags/tags.cards.ts';
import {
  createTag,
  createTagGroup,
  deleteTag,
  deleteTagGroup,
  patchTag,
  patchTagGroup,
} from '../../domain/inventory/tags/tags.commands.ts';
import { listTagGroups, tagGroupFilters, tagGroupSorts } from '../../domain/inventory/tags/tags.list.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/tags.ts';
import type { App } from '../types.ts';

const tag = 'Tags';
const permission = 'tags.manage';
const GroupParams = Type.Object({ group_id: Uuid }, closed);
const TagParams = Type.Object({ group_id: Uuid, tag_id: Uuid }, closed);
const onCard = { permission: 'login', permissionNote: 'inventory.edit or card.edit' } as const;

/** Tag groups, tags, and the tags of cards. */
export function registerTagRoutes(app: App): void {
  for (const schema of [schemas.TagSchema, schemas.TagGroupSchema] as TSchema[]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/tag-groups',
    id: 'listTagGroups',
    tag,
    summary: 'List tag groups with their tags',
    permission: 'login',
    query: listQuery(tagGroupSorts, 'name', tagGroupFilters),
    answers: { 200: { description: 'Tag groups', schema: listAnswer(Type.Ref('TagGroup#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listTagGroups(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/tag-groups',
    id: 'createTagGroup',
    tag,
    summary: 'Create a tag group',
    permission,
    body: schemas.TagGroupCreateBody,
    bodyExample: { name: 'Region', mode: 'multi', restrict_to_types: ['Application'] },
    answers: { 201: { description: 'The group', schema: Type.Ref('TagGroup#'), headers: ['ETag'] } },
    errors: ['name_taken', 'metamodel_busy'],
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createTagGroup(ctx, body)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/tag-groups/:group_id',
    id: 'patchTagGroup',
    tag,
    summary: 'Change a tag group',
    description:
      'Refused with `tag_in_use` while cards have tags that would no longer be allowed: several of a `single` group, or one on a card of another type than those of `restrict_to_types`.',
    permission,
    params: GroupParams,
    body: schemas.TagGroupPatchBody,
    bodyExample: { mandatory: true },
    headers: ['If-Match'],
    answers: { 200: { description: 'The group', schema: Type.Ref('TagGroup#') } },
    errors: ['name_taken', 'tag_in_use', 'metamodel_busy'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchTagGroup(ctx, params.group_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/tag-groups/:group_id',
    id: 'deleteTagGroup',
    tag,
    summary: 'Delete a tag group with its tags',
    description: 'The tags are removed from all cards.',
    permission,
    params: GroupParams,
    answers: { 204: { description: 'Deleted' } },
    errors: ['metamodel_busy'],
    handler: async ({ ctx, params, reply }) => {
      await deleteTagGroup(ctx, params.group_id);
      return reply.code(204).send();
    },
  });

  registerSingleTagRoutes(app);
}

/** Tags, and the tags of cards. */
function registerSingleTagRoutes(app: App): void {
  operation(app, {
    method: 'POST',
    url: '/api/v1/tag-groups/:group_id/tags',
    id: 'createTag',
    tag,
    summary: 'Add a tag to a group',
    permission,
    params: GroupParams,
    body: schemas.TagCreateBody,
    bodyExample: { name: 'Europe', color: '#1976d2' },
    answers: { 201: { description: 'The tag', schema: Type.Ref('Tag#'), headers: ['ETag'] } },
    errors: ['name_taken', 'metamodel_busy'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), await createTag(ctx, params.group_id, body)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/tag-groups/:group_id/tags/:tag_id',
    id: 'patchTag',
    tag,
    summary: 'Change a tag',
    permission,
    params: TagParams,
    body: schemas.TagPatchBody,
    bodyExample: { name: 'Western Europe' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The tag', schema: Type.Ref('Tag#') } },
    errors: ['name_taken', 'metamodel_busy'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchTag(ctx, params.group_id, params.tag_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/tag-groups/:group_id/tags/:tag_id',
    id: 'deleteTag',
    tag,
    summary: 'Delete a tag',
    description: 'It is removed from all cards.',
    permission,
    params: TagParams,
    answers: { 204: { description: 'Deleted' } },
    errors: ['metamodel_busy'],
    handler: async ({ ctx, params, reply }) => {
      await deleteTag(ctx, params.group_id, params.tag_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/tags',
    id: 'addCardTags',
    tag,
    summary: 'Add tags to a card',
    ...onCard,
    params: IdParams,
    body: schemas.CardTagsBody,
    answers: { 201: { description: 'The card', schema: Type.Ref('Card#'), headers: ['ETag'] } },
    errors: ['single_tag'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), await addTags(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/cards/:id/tags/:tag_id',
    id: 'removeCardTag',
    tag,
    summary: 'Remove a tag from a card',
    ...onCard,
    params: Type.Object({ id: Uuid, tag_id: Uuid }, closed),
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await removeTag(ctx, params.id, params.tag_id);
      return reply.code(204).send();
    },
  });
}
