import Type from 'typebox';
import { instanceCount } from '../../../domain/inventory/metamodel/usage/counts.ts';
import { readUsage } from '../../../domain/inventory/metamodel/usage/usage.ts';
import { RelationTypeDefinition } from '../../../domain/kernel/metamodel/metamodel.model.ts';
import {
  AttributeSchema,
  Label,
  TranslationsSchema,
  TypeKey,
} from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { Choice, Count, Flag, object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import {
  administering,
  asJob,
  createdOrJob,
  dry_run,
  impactQuery,
  languages,
  sendChange,
  usageDescription,
  usageQuery,
} from './metamodel.answers.ts';
import {
  broken,
  ChangedRelationTypeSchema,
  ImpactSchema,
  RelationTypeSchema,
  UsageSchema,
} from './metamodel.schemas.ts';

const { columns } = RelationTypeDefinition;
const relationTypeMembers = {
  label: Type.Optional(Label),
  reverse_label: Type.Optional(columns.reverse_label),
  description: Type.Optional(columns.description),
  source_type_key: Type.Optional(TypeKey),
  target_type_key: Type.Optional(TypeKey),
  cardinality: Type.Optional(columns.cardinality),
  attributes_schema: Type.Optional(Type.Array(AttributeSchema, { maxItems: 200 })),
  source_visible: Type.Optional(Type.Boolean()),
  source_mandatory: Type.Optional(Type.Boolean()),
  target_visible: Type.Optional(Type.Boolean()),
  target_mandatory: Type.Optional(Type.Boolean()),
  is_hidden: Type.Optional(Type.Boolean()),
  deprecation: Type.Optional(columns.deprecation),
  sort_order: Type.Optional(columns.sort_order),
  translations: Type.Optional(TranslationsSchema),
};

const RelationTypeCreateBody = object({
  ...relationTypeMembers,
  key: TypeKey,
  label: Label,
  source_type_key: TypeKey,
  target_type_key: TypeKey,
});
const RelationTypePatchBody = object(relationTypeMembers, { minProperties: 1 });

/** Write operations of relation types. */
export function registerRelationTypeRoutes(app: App): void {
  const routes = routesOf(app, administering);

  routes.post('createRelationType', '/api/v1/metamodel/relation-types', {
    summary: 'Create a relation type',
    languages,
    description:
      'Two card types can have one visible relation type in each direction; keys that end in `Successor` are allowed in addition.',
    body: RelationTypeCreateBody,
    responses: createdOrJob('The relation type', RelationTypeSchema),
    errors: ['key_taken', 'pair_taken', 'metamodel_busy'],
    handler: ({ body, ...input }) => {
      const created = `/api/v1/metamodel/relation-types/${body.key}`;
      return sendChange(input, { operation: 'create_relation_type', key: body.key, body }, { created });
    },
  });

  routes.patch('patchRelationType', '/api/v1/metamodel/relation-types/:key', {
    summary: 'Change a relation type and its relations',
    description:
      'Members that are sent replace the present ones. The card types at its ends cannot change once it has relations. Of built-in attributes and options only translations can change; options can be hidden. Values are removed or converted as with card types. More than 2,000 relations and cards are written by a job.',
    languages,
    query: impactQuery,
    body: RelationTypePatchBody,
    responses: {
      ...ok(
        'The relation type, or the impact of a dry run',
        Type.Union([ChangedRelationTypeSchema, ImpactSchema]),
        'ETag',
      ),
      ...asJob,
    },
    errors: [
      'in_use',
      'values_do_not_fit',
      'instances_present',
      'pair_taken',
      'cardinality_violated',
      'built_in_frozen',
      'metamodel_busy',
    ],
    handler: ({ params, query, body, ...input }) =>
      sendChange(
        input,
        { operation: 'patch_relation_type', key: params.key, body },
        { dryRun: query.dry_run, force: query.force, resource: !query.dry_run },
      ),
  });

  registerRelationTypeRemovalRoutes(app);
}

/** Delete and restore operations of relation types. */
function registerRelationTypeRemovalRoutes(app: App): void {
  const routes = routesOf(app, administering);

  routes.delete('deleteRelationType', '/api/v1/metamodel/relation-types/:key', {
    summary: 'Delete a relation type, or hide a built-in one',
    description: 'A type with relations is only deleted with `force`, which deletes them too.',
    query: object({
      dry_run,
      force: Flag('Delete its relations as well, and break consumers'),
    }),
    responses: {
      ...ok(
        'The result, or the impact of a dry run',
        Type.Union([
          object({
            status: Choice(['deleted', 'hidden']),
            key: Type.String(),
            removed_instances: Count,
            ...broken,
          }),
          ImpactSchema,
        ]),
      ),
      ...asJob,
    },
    ifMatch: true,
    errors: ['in_use', 'instances_present', 'metamodel_busy'],
    handler: ({ params, query, ...input }) =>
      sendChange(
        input,
        { operation: 'delete_relation_type', key: params.key },
        { dryRun: query.dry_run, force: query.force, resource: false },
      ),
  });

  routes.post('restoreRelationType', '/api/v1/metamodel/relation-types/:key/restore', {
    summary: 'Show a hidden relation type again',
    languages,
    responses: {
      ...ok('The relation type', RelationTypeSchema, 'ETag'),
      ...asJob,
    },
    ifMatch: true,
    errors: ['wrong_state', 'pair_taken', 'metamodel_busy'],
    handler: ({ params, ...input }) =>
      sendChange(input, { operation: 'restore_relation_type', key: params.key }),
  });

  routes.get('readRelationTypeUsage', '/api/v1/metamodel/relation-types/:key/usage', {
    summary: 'List what uses a relation type, a field of it or an option',
    description: usageDescription,
    query: usageQuery,
    responses: ok('The consumers', UsageSchema),
    handler: ({ ctx, params, query }) =>
      readUsage(ctx, { of: 'relation_type', key: params.key, ...query }, query),
  });

  routes.get('countRelationTypeInstances', '/api/v1/metamodel/relation-types/:key/instance-count', {
    summary: 'Count the relations of a type',
    responses: ok('The count', object({ key: Type.String(), instance_count: Count })),
    handler: ({ ctx, params }) => instanceCount(ctx, params.key),
  });
}
