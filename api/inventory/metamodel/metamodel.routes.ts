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
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { languages, tag } from './metamodel.answers.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from './metamodel.schemas.ts';

const sorts = definitionSorts();

/** Read operations of card types, relation types and stakeholder roles. */
export function registerMetamodelRoutes(app: App): void {
  const routes = routesOf(app, { tag, permission: 'login', languages });

  routes.get('/api/v1/metamodel/types', {
    id: 'listCardTypes',
    summary: 'List card types',
    query: listQuery(sorts, 'sort_order', typeFilters),
    responses: page('Card types', CardTypeSchema),
    handler: ({ ctx, query, language }) => listCardTypes(ctx, query, language),
  });

  routes.get('/api/v1/metamodel/types/:key', {
    id: 'readCardType',
    summary: 'Read one card type',
    responses: ok('The card type', CardTypeSchema),
    handler: ({ ctx, params, language }) => readCardType(ctx.db, params.key, language),
  });

  routes.get('/api/v1/metamodel/relation-types', {
    id: 'listRelationTypes',
    summary: 'List relation types',
    query: listQuery(sorts, 'sort_order', relationTypeFilters),
    responses: page('Relation types', RelationTypeSchema),
    handler: ({ ctx, query, language }) => listRelationTypes(ctx, query, language),
  });

  routes.get('/api/v1/metamodel/relation-types/:key', {
    id: 'readRelationType',
    summary: 'Read one relation type',
    responses: ok('The relation type', RelationTypeSchema),
    handler: ({ ctx, params, language }) => readRelationType(ctx.db, params.key, language),
  });

  routes.get('/api/v1/metamodel/types/:type_key/stakeholder-roles', {
    id: 'listStakeholderRoles',
    summary: 'List the stakeholder roles of one card type',
    query: listQuery(sorts, 'sort_order', roleFilters),
    responses: page('Stakeholder roles', StakeholderRoleSchema),
    handler: ({ ctx, params, query, language }) =>
      listStakeholderRoleDefinitions(ctx, params.type_key, query, language),
  });

  routes.get('/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    id: 'readStakeholderRole',
    summary: 'Read one stakeholder role',
    responses: ok('The stakeholder role', StakeholderRoleSchema),
    handler: ({ ctx, params, language }) =>
      readStakeholderRoleDefinition(ctx.db, params.type_key, params.role_key, language),
  });
}
