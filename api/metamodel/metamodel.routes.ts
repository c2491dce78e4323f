import Type from 'typebox';
import {
  definitionSorts,
  listCardTypes,
  listRelationTypes,
  listStakeholderRoleDefinitions,
  readCardType,
  readRelationType,
  readStakeholderRoleDefinition,
  relationTypeFilters,
  roleFilters,
  typeFilters,
} from '../../domain/inventory/metamodel/metamodel.list.ts';
import { closed } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { negotiateLanguage } from '../language.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from '../schemas/metamodel.ts';
import { ImpactSchema } from '../schemas/metamodel-bodies.ts';
import type { App } from '../types.ts';
import { localised, localisedAnswer, tag } from './metamodel.answers.ts';
import { Key, KeyParams } from './metamodel.parameters.ts';

const sorts = definitionSorts();

/** Reading of card types, relation types and stakeholder roles. */
export function registerMetamodelRoutes(app: App): void {
  for (const schema of [CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema, ImpactSchema]) {
    app.addSchema(schema);
  }

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types',
    id: 'listCardTypes',
    tag,
    summary: 'List card types',
    permission: 'login',
    ...localised,
    query: listQuery(sorts, 'sort_order', typeFilters),
    answers: { 200: localisedAnswer('Card types', listAnswer(Type.Ref('CardType#'))) },
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(
        reply,
        await listCardTypes(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
      ),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:key',
    id: 'readCardType',
    tag,
    summary: 'Read one card type',
    permission: 'login',
    ...localised,
    params: KeyParams,
    answers: { 200: localisedAnswer('The card type', Type.Ref('CardType#')) },
    handler: async ({ ctx, params, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return sendJson(reply, await readCardType(ctx.db, params.key, language));
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/relation-types',
    id: 'listRelationTypes',
    tag,
    summary: 'List relation types',
    permission: 'login',
    ...localised,
    query: listQuery(sorts, 'sort_order', relationTypeFilters),
    answers: { 200: localisedAnswer('Relation types', listAnswer(Type.Ref('RelationType#'))) },
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(
        reply,
        await listRelationTypes(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
      ),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/relation-types/:key',
    id: 'readRelationType',
    tag,
    summary: 'Read one relation type',
    permission: 'login',
    ...localised,
    params: KeyParams,
    answers: { 200: localisedAnswer('The relation type', Type.Ref('RelationType#')) },
    handler: async ({ ctx, params, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return sendJson(reply, await readRelationType(ctx.db, params.key, language));
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:type_key/stakeholder-roles',
    id: 'listStakeholderRoles',
    tag,
    summary: 'List the stakeholder roles of one card type',
    permission: 'login',
    ...localised,
    params: Type.Object({ type_key: Key }, closed),
    query: listQuery(sorts, 'sort_order', roleFilters),
    answers: { 200: localisedAnswer('Stakeholder roles', listAnswer(Type.Ref('StakeholderRole#'))) },
    handler: async ({ ctx, params, query, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return sendJson(reply, await listStakeholderRoleDefinitions(ctx, params.type_key, query, language));
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key',
    id: 'readStakeholderRole',
    tag,
    summary: 'Read one stakeholder role',
    permission: 'login',
    ...localised,
    params: Type.Object({ type_key: Key, role_key: Key }, closed),
    answers: { 200: localisedAnswer('The stakeholder role', Type.Ref('StakeholderRole#')) },
    handler: async ({ ctx, params, request, reply }) => {
      const { type_key, role_key } = params;
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return sendJson(reply, await readStakeholderRoleDefinition(ctx.db, type_key, role_key, language));
    },
  });
}
