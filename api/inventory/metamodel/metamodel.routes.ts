import {
  cardTypeList,
  readCardType,
  readRelationType,
  readStakeholderRoleDefinition,
  relationTypeList,
  roleDefinitionList,
} from '../../../domain/inventory/metamodel/metamodel.list.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { languages, tag } from './metamodel.answers.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from './metamodel.schemas.ts';

/** Read operations of card types, relation types and stakeholder roles. */
export function registerMetamodelRoutes(app: App): void {
  const routes = routesOf(app, { tag, permission: 'login', languages });

  routes.list('listCardTypes', '/api/v1/metamodel/types', cardTypeList, {
    summary: 'List card types',
    responses: page('Card types', CardTypeSchema),
  });

  routes.get('readCardType', '/api/v1/metamodel/types/:key', {
    summary: 'Read one card type',
    responses: ok('The card type', CardTypeSchema),
    handler: ({ ctx, params, language }) => readCardType(ctx.db, params.key, language),
  });

  routes.list('listRelationTypes', '/api/v1/metamodel/relation-types', relationTypeList, {
    summary: 'List relation types',
    responses: page('Relation types', RelationTypeSchema),
  });

  routes.get('readRelationType', '/api/v1/metamodel/relation-types/:key', {
    summary: 'Read one relation type',
    responses: ok('The relation type', RelationTypeSchema),
    handler: ({ ctx, params, language }) => readRelationType(ctx.db, params.key, language),
  });

  routes.list(
    'listStakeholderRoles',
    '/api/v1/metamodel/types/:type_key/stakeholder-roles',
    roleDefinitionList,
    {
      summary: 'List the stakeholder roles of one card type',
      responses: page('Stakeholder roles', StakeholderRoleSchema),
    },
  );

  routes.get('readStakeholderRole', '/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    summary: 'Read one stakeholder role',
    responses: ok('The stakeholder role', StakeholderRoleSchema),
    handler: ({ ctx, params, language }) =>
      readStakeholderRoleDefinition(ctx.db, params.type_key, params.role_key, language),
  });
}
