import Type from 'typebox';
import {
  fieldUsage,
  instanceCount,
  optionUsage,
  sectionUsage,
} from '../../../domain/inventory/metamodel/usage.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { CardTypeSchema, RelationTypeSchema, StakeholderRoleSchema } from '../../schemas/metamodel.ts';
import {
  CardTypeCreateBody,
  CardTypePatchBody,
  ImpactSchema,
  RelationTypeCreateBody,
  RelationTypePatchBody,
  RoleCreateBody,
  RolePatchBody,
} from '../../schemas/metamodel-bodies.ts';
import type { App } from '../../types.ts';
import { administering, asJob, localised, localisedAnswer, sendChange, tag } from './metamodel.answers.ts';
import { dryRun, force, Key, KeyParams } from './metamodel.parameters.ts';

const FieldKey = Type.String({ minLength: 1, maxLength: 100, description: 'A field of the type' });
const OptionKey = Type.String({ minLength: 1, maxLength: 100, description: 'An option of the field' });
const usage = {
  card_count: Type.Integer({ description: 'Active cards' }),
  archived_count: Type.Integer({ description: 'Archived cards' }),
};

/** Write operations of card types, and the usage of their fields. */
export function registerCardTypeRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.post('/api/v1/metamodel/types', {
    id: 'createCardType',
    summary: 'Create a card type',
    description: 'Without `stakeholder_roles` the type gets `responsible` and `observer`.',
    ...administering,
    body: CardTypeCreateBody,

    answers: {
      201: { description: 'The card type', schema: CardTypeSchema, headers: ['Location', 'ETag'] },
      ...asJob,
    },
    errors: ['key_taken', 'metamodel_busy'],
    handler: ({ body, ...input }) => {
      const created = `/api/v1/metamodel/types/${body.key}`;
      return sendChange(input, { operation: 'create_card_type', key: body.key, body }, { created });
    },
  });

  routes.patch('/api/v1/metamodel/types/:key', {
    id: 'patchCardType',
    summary: 'Change a card type and its cards',
    description:
      'Members that are sent replace the present ones. Values of removed fields, options and subtypes are removed from all cards. If the type of a field changes, its values are converted; if a value cannot be converted without loss, the change is refused unless `force` is true, which removes such values. `dry_run` returns the impact. More than 2,000 cards are written by a job.',
    ...administering,
    ...localised,
    params: KeyParams,
    query: object({ dry_run: dryRun, force }),
    body: CardTypePatchBody,

    answers: {
      200: localisedAnswer(
        'The card type, or the impact of a dry run',
        Type.Union([CardTypeSchema, ImpactSchema]),
        { headers: ['ETag'] },
      ),
      ...asJob,
    },
    errors: [
      'precondition_failed',
      'values_do_not_fit',
      'role_in_use',
      'last_active_role',
      'built_in_frozen',
      'metamodel_busy',
    ],
    handler: ({ params, query, body, ...input }) =>
      sendChange(
        input,
        { operation: 'patch_card_type', key: params.key, body },
        {
          dryRun: query.dry_run,
          force: query.force,
          resource: !query.dry_run,
        },
      ),
  });

  routes.delete('/api/v1/metamodel/types/:key', {
    id: 'deleteCardType',
    summary: 'Delete a card type without cards, or hide a built-in one',
    description:
      'Custom relation types of a deleted type are deleted too. Lists, relations and reports omit a hidden type and its cards; setting `is_hidden` to false shows it again.',
    ...administering,
    params: KeyParams,
    answers: {
      200: {
        description: 'The result',
        schema: object({
          status: Type.Union([Type.Literal('deleted'), Type.Literal('hidden')]),
          key: Type.String(),
        }),
      },
      ...asJob,
    },
    errors: ['precondition_failed', 'cards_present', 'relation_types_present', 'metamodel_busy'],
    handler: ({ params, ...input }) =>
      sendChange(input, { operation: 'delete_card_type', key: params.key }, { resource: false }),
  });

  registerUsageRoutes(app);
}

/** Usage counts of parts of card types. */
function registerUsageRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.get('/api/v1/metamodel/types/:key/field-usage', {
    id: 'readFieldUsage',
    summary: 'Count the cards that use a field',
    ...administering,
    params: KeyParams,
    query: object({ field_key: FieldKey }),
    answers: ok('The counts', object({ field_key: Type.String(), ...usage })),
    handler: ({ ctx, params, query }) => fieldUsage(ctx, params.key, query.field_key),
  });

  routes.get('/api/v1/metamodel/types/:key/section-usage', {
    id: 'readSectionUsage',
    summary: 'Count the cards that use the fields of a section',
    description: 'By field, and the number of cards that use any of them.',
    ...administering,
    params: KeyParams,
    query: object({
      field_keys: Type.String({ minLength: 1, maxLength: 10_000, description: 'Fields, comma-separated' }),
    }),
    answers: ok(
      'The counts',
      object({
        ...usage,
        fields: Type.Array(object({ field_key: Type.String(), ...usage })),
      }),
    ),
    handler: ({ ctx, params, query }) => sectionUsage(ctx, params.key, query.field_keys),
  });

  routes.get('/api/v1/metamodel/types/:key/option-usage', {
    id: 'readOptionUsage',
    summary: 'Count the cards that have one option',
    ...administering,
    params: KeyParams,
    query: object({ field_key: FieldKey, option_key: OptionKey }),
    answers: ok('The counts', object({ field_key: Type.String(), option_key: Type.String(), ...usage })),
    handler: ({ ctx, params, query }) => optionUsage(ctx, params.key, query.field_key, query.option_key),
  });
}

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
      201: { description: 'The relation type', schema: RelationTypeSchema, headers: ['Location', 'ETag'] },
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
        Type.Union([RelationTypeSchema, ImpactSchema]),
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
      200: localisedAnswer('The relation type', RelationTypeSchema, { headers: ['ETag'] }),
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

const base = '/api/v1/metamodel/types/:type_key/stakeholder-roles';
const RoleParams = object({ type_key: Key, role_key: Key });

/** Write operations of the stakeholder roles of card types. */
export function registerStakeholderRoleRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.post(base, {
    id: 'createStakeholderRole',
    summary: 'Add a stakeholder role to a card type',
    description:
      'It counts towards the data quality of the type’s cards: those on which nobody has the role get a lower one.',
    ...administering,
    params: object({ type_key: Key }),
    body: RoleCreateBody,

    answers: {
      201: { description: 'The role', schema: StakeholderRoleSchema, headers: ['Location', 'ETag'] },
      ...asJob,
    },
    errors: ['key_taken', 'metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const created = `/api/v1/metamodel/types/${params.type_key}/stakeholder-roles/${body.key}`;
      return sendChange(input, { operation: 'create_role', key: params.type_key, body }, { created });
    },
  });

  routes.patch('/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    id: 'patchStakeholderRole',
    summary: 'Change a stakeholder role',
    description: 'The change of rights applies immediately to everybody who has the role.',
    ...administering,
    ...localised,
    params: RoleParams,
    body: RolePatchBody,

    answers: { 200: localisedAnswer('The role', StakeholderRoleSchema, { headers: ['ETag'] }), ...asJob },
    errors: ['precondition_failed', 'metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const { type_key: key, role_key } = params;
      const change = { operation: 'patch_role', key, role: role_key, body } as const;
      return sendChange(input, change);
    },
  });

  for (const act of ['archive', 'restore'] as const) {
    routes.post(`/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key/${act}`, {
      id: `${act}StakeholderRole`,
      summary: act === 'archive' ? 'Archive a stakeholder role' : 'Make an archived role active again',
      description:
        act === 'archive'
          ? 'Its assignments remain, without its rights. The last active role of a type cannot be archived.'
          : 'Its assignments have its rights again.',
      ...administering,
      ...localised,
      params: RoleParams,
      answers: { 200: localisedAnswer('The role', StakeholderRoleSchema, { headers: ['ETag'] }), ...asJob },
      errors: ['precondition_failed', 'wrong_state', 'last_active_role', 'metamodel_busy'],
      handler: ({ params, ...input }) =>
        sendChange(input, { operation: `${act}_role`, key: params.type_key, role: params.role_key }),
    });
  }
}
