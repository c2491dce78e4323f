import Type from 'typebox';
import { instanceCount } from '../../../domain/inventory/metamodel/usage.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { RelationTypeSchema } from '../../schemas/metamodel.ts';
import {
  ImpactSchema,
  RelationTypeCreateBody,
  RelationTypePatchBody,
} from '../../schemas/metamodel-bodies.ts';
import type { App } from '../../types.ts';
import { administering, asJob, localised, localisedAnswer, sendChange, tag } from './metamodel.answers.ts';
import { dryRun, force, KeyParams } from './metamodel.parameters.ts';

const relationType = RelationTypeSchema;

/** Write operations of relation types. */
export function registerRelationTypeRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.post('/api/v1/metamodel/relation-types', {
    id: 'createRelationType',
    summary: 'Create a relation type',
    description:
      'Two card types can have one visible relation type in each direction; keys that end in `Successor` are allowed in addition.',
    ...administering,
    body: RelationTypeCreateBody,

    answers: {
      201: { description: 'The relation type', schema: relationType, headers: ['Location', 'ETag'] },
      ...asJob,
    },
    errors: ['key_taken', 'pair_taken', 'metamodel_busy'],
    handler: ({ body, ...input }) => {
      const created = `/api/v1/metamodel/relation-types/${body.key}`;
      return sendChange(input, { operation: 'create_relation_type', key: body.key, body }, { created });
    },
  });

  routes.patch('/api/v1/metamodel/relation-types/:key', {
    id: 'patchRelationType',
    summary: 'Change a relation type and its relations',
    description:
      'Members that are sent replace the present ones. The card types at its ends cannot change once it has relations. Of built-in attributes and options only translations can change; options can be hidden. Values are removed or converted as with card types. More than 2,000 relations and cards are written by a job.',
    ...administering,
    ...localised,
    params: KeyParams,
    query: object({ dry_run: dryRun, force }),
    body: RelationTypePatchBody,

    answers: {
      200: localisedAnswer(
        'The relation type, or the impact of a dry run',
        Type.Union([relationType, ImpactSchema]),
        { headers: ['ETag'] },
      ),
      ...asJob,
    },
    errors: [
      'precondition_failed',
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
        {
          dryRun: query.dry_run,
          force: query.force,
          resource: !query.dry_run,
        },
      ),
  });

  registerRelationTypeRemovalRoutes(app);
}

/** Delete and restore operations of relation types. */
function registerRelationTypeRemovalRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.delete('/api/v1/metamodel/relation-types/:key', {
    id: 'deleteRelationType',
    summary: 'Delete a relation type, or hide a built-in one',
    description: 'A type with relations is only deleted with `force`, which deletes them too.',
    ...administering,
    params: KeyParams,
    query: object({
      force: Type.Boolean({ default: false, description: 'Delete its relations as well' }),
    }),
    answers: {
      200: {
        description: 'The result',
        schema: object({
          status: Type.Union([Type.Literal('deleted'), Type.Literal('hidden')]),
          key: Type.String(),
          removed_instances: Type.Integer({ minimum: 0 }),
        }),
      },
      ...asJob,
    },
    errors: ['precondition_failed', 'instances_present', 'metamodel_busy'],
    handler: ({ params, query, ...input }) =>
      sendChange(
        input,
        { operation: 'delete_relation_type', key: params.key },
        { force: query.force, resource: false },
      ),
  });

  routes.post('/api/v1/metamodel/relation-types/:key/restore', {
    id: 'restoreRelationType',
    summary: 'Show a hidden relation type again',
    ...administering,
    ...localised,
    params: KeyParams,
    answers: {
      200: localisedAnswer('The relation type', relationType, { headers: ['ETag'] }),
      ...asJob,
    },
    errors: ['precondition_failed', 'wrong_state', 'pair_taken', 'metamodel_busy'],
    handler: ({ params, ...input }) =>
      sendChange(input, { operation: 'restore_relation_type', key: params.key }),
  });

  routes.get('/api/v1/metamodel/relation-types/:key/instance-count', {
    id: 'countRelationTypeInstances',
    summary: 'Count the relations of a type',
    ...administering,
    params: KeyParams,
    answers: ok('The count', object({ key: Type.String(), instance_count: Type.Integer({ minimum: 0 }) })),
    handler: ({ ctx, params }) => instanceCount(ctx, params.key),
  });
}
