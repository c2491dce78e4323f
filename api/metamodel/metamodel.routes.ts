import Type from 'typebox';
import {
  listCardTypes,
  listRelationTypes,
  listStakeholderRoleDefinitions,
  readCardType,
  readRelationType,
  readStakeholderRoleDefinition,
} from '../../domain/metamodel/metamodel.queries.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { closed, listAnswer, listQuery } from '../schemas/common.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from '../schemas/metamodel.ts';
import type { App } from '../types.ts';

const tag = 'Metamodel';
const Key = Type.String({ minLength: 1, maxLength: 100 });
const includeHidden = Type.Boolean({ default: false });

/** Reading of card types, relation types and stakeholder roles. */
export function registerMetamodelRoutes(app: App): void {
  for (const schema of [CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types',
    id: 'listCardTypes',
    tag,
    summary: 'List card types',
    permission: 'login',
    query: listQuery(['sort_order', 'label', 'key'], 'sort_order', { include_hidden: includeHidden }),
    answers: { 200: { description: 'Card types', schema: listAnswer(Type.Ref('CardType#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listCardTypes(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:key',
    id: 'readCardType',
    tag,
    summary: 'Read one card type',
    permission: 'login',
    params: Type.Object({ key: Key }, closed),
    answers: { 200: { description: 'The card type', schema: Type.Ref('CardType#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readCardType(ctx, params.key)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/relation-types',
    id: 'listRelationTypes',
    tag,
    summary: 'List relation types',
    permission: 'login',
    query: listQuery(['sort_order', 'label', 'key'], 'sort_order', {
      include_hidden: includeHidden,
      type_key: Type.Optional(Key),
    }),
    answers: { 200: { description: 'Relation types', schema: listAnswer(Type.Ref('RelationType#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listRelationTypes(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/relation-types/:key',
    id: 'readRelationType',
    tag,
    summary: 'Read one relation type',
    permission: 'login',
    params: Type.Object({ key: Key }, closed),
    answers: { 200: { description: 'The relation type', schema: Type.Ref('RelationType#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRelationType(ctx, params.key)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:type_key/stakeholder-roles',
    id: 'listStakeholderRoles',
    tag,
    summary: 'List the stakeholder roles of one card type',
    permission: 'login',
    params: Type.Object({ type_key: Key }, closed),
    query: listQuery(['sort_order', 'label', 'key'], 'sort_order', { include_archived: includeHidden }),
    answers: { 200: { description: 'Stakeholder roles', schema: listAnswer(Type.Ref('StakeholderRole#')) } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listStakeholderRoleDefinitions(ctx, params.type_key, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key',
    id: 'readStakeholderRole',
    tag,
    summary: 'Read one stakeholder role',
    permission: 'login',
    params: Type.Object({ type_key: Key, role_key: Key }, closed),
    answers: { 200: { description: 'The stakeholder role', schema: Type.Ref('StakeholderRole#') } },
    handler: async ({ ctx, params, reply }) =>
      sendJson(reply, await readStakeholderRoleDefinition(ctx, params.type_key, params.role_key)),
  });
}
