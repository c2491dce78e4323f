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
} from '../../../domain/inventory/metamodel/metamodel.list.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { negotiateLanguage } from '../../language.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from '../../schemas/metamodel.ts';
import type { App } from '../../types.ts';
import { localised, localisedAnswer, tag } from './metamodel.answers.ts';
import { Key, KeyParams } from './metamodel.parameters.ts';

const sorts = definitionSorts();

/** Read operations of card types, relation types and stakeholder roles. */
export function registerMetamodelRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.get('/api/v1/metamodel/types', {
    id: 'listCardTypes',
    summary: 'List card types',
    permission: 'login',
    ...localised,
    query: listQuery(sorts, 'sort_order', typeFilters),
    answers: { 200: localisedAnswer('Card types', listAnswer(CardTypeSchema)) },
    handler: ({ ctx, query, request, reply }) =>
      listCardTypes(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
  });

  routes.get('/api/v1/metamodel/types/:key', {
    id: 'readCardType',
    summary: 'Read one card type',
    permission: 'login',
    ...localised,
    params: KeyParams,
    answers: { 200: localisedAnswer('The card type', CardTypeSchema) },
    handler: async ({ ctx, params, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return await readCardType(ctx.db, params.key, language);
    },
  });

  routes.get('/api/v1/metamodel/relation-types', {
    id: 'listRelationTypes',
    summary: 'List relation types',
    permission: 'login',
    ...localised,
    query: listQuery(sorts, 'sort_order', relationTypeFilters),
    answers: { 200: localisedAnswer('Relation types', listAnswer(RelationTypeSchema)) },
    handler: ({ ctx, query, request, reply }) =>
      listRelationTypes(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
  });

  routes.get('/api/v1/metamodel/relation-types/:key', {
    id: 'readRelationType',
    summary: 'Read one relation type',
    permission: 'login',
    ...localised,
    params: KeyParams,
    answers: { 200: localisedAnswer('The relation type', RelationTypeSchema) },
    handler: async ({ ctx, params, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return await readRelationType(ctx.db, params.key, language);
    },
  });

  routes.get('/api/v1/metamodel/types/:type_key/stakeholder-roles', {
    id: 'listStakeholderRoles',
    summary: 'List the stakeholder roles of one card type',
    permission: 'login',
    ...localised,
    params: object({ type_key: Key }),
    query: listQuery(sorts, 'sort_order', roleFilters),
    answers: { 200: localisedAnswer('Stakeholder roles', listAnswer(StakeholderRoleSchema)) },
    handler: async ({ ctx, params, query, request, reply }) => {
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return await listStakeholderRoleDefinitions(ctx, params.type_key, query, language);
    },
  });

  routes.get('/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    id: 'readStakeholderRole',
    summary: 'Read one stakeholder role',
    permission: 'login',
    ...localised,
    params: object({ type_key: Key, role_key: Key }),
    answers: { 200: localisedAnswer('The stakeholder role', StakeholderRoleSchema) },
    handler: async ({ ctx, params, request, reply }) => {
      const { type_key, role_key } = params;
      const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
      return await readStakeholderRoleDefinition(ctx.db, type_key, role_key, language);
    },
  });
}
