import Type from 'typebox';
import { fieldUsage, optionUsage, sectionUsage } from '../../../domain/inventory/metamodel/usage/counts.ts';
import { readUsage } from '../../../domain/inventory/metamodel/usage/usage.ts';
import { CardTypeDefinition } from '../../../domain/kernel/metamodel/metamodel.model.ts';
import {
  CardPermissions,
  Label,
  RoleKey,
  SectionSchema,
  SubtypeSchema,
  TranslationsSchema,
  TypeKey,
} from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { Choice, Flag, OpenObject, object, optional, partialObject } from '../../../domain/kernel/shapes.ts';
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
  CardTypeSchema,
  ChangedCardTypeSchema,
  ChangedRoleSchema,
  ImpactSchema,
  StakeholderRoleSchema,
  UsageSchema,
} from './metamodel.schemas.ts';

const { description, icon, color, category, number_prefix, sort_order, deprecation, ...flags } =
  CardTypeDefinition.columns;
const { has_data_flows, allow_same_name } = flags;
const cardTypeMembers = {
  label: Type.Optional(Label),
  ...optional({ description, icon, color, category, number_prefix }),
  has_hierarchy: Type.Optional(Type.Boolean()),
  has_successors: Type.Optional(Type.Boolean()),
  ...optional({ has_data_flows, allow_same_name, deprecation }),
  subtypes: Type.Optional(Type.Array(SubtypeSchema, { maxItems: 200 })),
  fields_schema: Type.Optional(Type.Array(SectionSchema, { maxItems: 100 })),
  stakeholder_roles: Type.Optional(
    Type.Array(
      object({
        key: RoleKey,
        label: Label,
        color: Type.Optional(color),
        translations: Type.Optional(TranslationsSchema),
      }),
      { maxItems: 100, description: 'The active roles; omitted roles are deleted if nobody has them' },
    ),
  ),
  section_config: Type.Optional(OpenObject),
  is_hidden: Type.Optional(Type.Boolean()),
  sort_order: Type.Optional(sort_order),
  translations: Type.Optional(TranslationsSchema),
};

const CardTypeCreateBody = object({ ...cardTypeMembers, key: TypeKey, label: Label });
const CardTypePatchBody = object(cardTypeMembers, { minProperties: 1 });

const RoleCreateBody = object({
  key: RoleKey,
  label: Label,
  description: Type.Optional(description),
  color: Type.Optional(color),
  permissions: Type.Optional(CardPermissions),
  translations: Type.Optional(TranslationsSchema),
});
const RolePatchBody = partialObject(
  {
    label: Label,
    description,
    color,
    permissions: CardPermissions,
    sort_order,
    translations: TranslationsSchema,
  },
  { minProperties: 1 },
);

const FieldKey = Type.String({ minLength: 1, maxLength: 100, description: 'A field of the type' });
const OptionKey = Type.String({ minLength: 1, maxLength: 100, description: 'An option of the field' });
const usage = {
  card_count: Type.Integer({ description: 'Active cards' }),
  archived_count: Type.Integer({ description: 'Archived cards' }),
};

/** Write operations of card types, and the usage of their fields. */
export function registerCardTypeRoutes(app: App): void {
  const routes = routesOf(app, administering);

  routes.post('createCardType', '/api/v1/metamodel/types', {
    summary: 'Create a card type',
    languages,
    description:
      'Without `stakeholder_roles` the type gets `responsible` and `observer`; without `number_prefix` one that no other type has.',
    body: CardTypeCreateBody,
    responses: createdOrJob('The card type', CardTypeSchema),
    errors: ['key_taken', 'metamodel_busy'],
    handler: ({ body, ...input }) => {
      const created = `/api/v1/metamodel/types/${body.key}`;
      return sendChange(input, { operation: 'create_card_type', key: body.key, body }, { created });
    },
  });

  routes.patch('patchCardType', '/api/v1/metamodel/types/:key', {
    summary: 'Change a card type and its cards',
    description:
      'Members that are sent replace the present ones. Values of removed fields, options and subtypes are removed from all cards. If the type of a field changes, its values are converted; if a value cannot be converted without loss, the change is refused unless `force` is true, which removes such values. A change that breaks consumers is refused unless `force` is true; the answer then names them. `dry_run` returns the impact. More than 2,000 cards are written by a job.',
    languages,
    query: impactQuery,
    body: CardTypePatchBody,
    responses: {
      ...ok(
        'The card type, or the impact of a dry run',
        Type.Union([ChangedCardTypeSchema, ImpactSchema]),
        'ETag',
      ),
      ...asJob,
    },
    errors: [
      'in_use',
      'values_do_not_fit',
      'same_names_present',
      'role_in_use',
      'last_active_role',
      'built_in_frozen',
      'metamodel_busy',
    ],
    handler: ({ params, query, body, ...input }) =>
      sendChange(
        input,
        { operation: 'patch_card_type', key: params.key, body },
        { dryRun: query.dry_run, force: query.force, resource: !query.dry_run },
      ),
  });

  routes.delete('deleteCardType', '/api/v1/metamodel/types/:key', {
    summary: 'Delete a card type without cards, or hide a built-in one',
    description:
      'Custom relation types of a deleted type are deleted too. Lists, relations and reports omit a hidden type and its cards; setting `is_hidden` to false shows it again.',
    query: object({ dry_run, force: Flag('Break the consumers of the type') }),
    responses: {
      ...ok(
        'The result, or the impact of a dry run',
        Type.Union([
          object({ status: Choice(['deleted', 'hidden']), key: Type.String(), ...broken }),
          ImpactSchema,
        ]),
      ),
      ...asJob,
    },
    ifMatch: true,
    errors: ['in_use', 'cards_present', 'relation_types_present', 'metamodel_busy'],
    handler: ({ params, query, ...input }) =>
      sendChange(
        input,
        { operation: 'delete_card_type', key: params.key },
        { dryRun: query.dry_run, force: query.force, resource: false },
      ),
  });

  registerUsageRoutes(app);
}

/** Usage of card types and their parts: by stored objects, and counts of cards. */
function registerUsageRoutes(app: App): void {
  const routes = routesOf(app, administering);

  routes.get('readTypeUsage', '/api/v1/metamodel/types/:key/usage', {
    summary: 'List what uses a card type, a field or an option',
    description: usageDescription,
    query: usageQuery,
    responses: ok('The consumers', UsageSchema),
    handler: ({ ctx, params, query }) => readUsage(ctx, { of: 'type', key: params.key, ...query }, query),
  });

  routes.get('readFieldUsage', '/api/v1/metamodel/types/:key/field-usage', {
    summary: 'Count the cards that use a field',
    query: object({ field_key: FieldKey }),
    responses: ok('The counts', object({ field_key: Type.String(), ...usage })),
    handler: ({ ctx, params, query }) => fieldUsage(ctx, params.key, query.field_key),
  });

  routes.get('readSectionUsage', '/api/v1/metamodel/types/:key/section-usage', {
    summary: 'Count the cards that use the fields of a section',
    description: 'By field, and the number of cards that use any of them.',
    query: object({
      field_keys: Type.String({ minLength: 1, maxLength: 10_000, description: 'Fields, comma-separated' }),
    }),
    responses: ok(
      'The counts',
      object({
        ...usage,
        fields: Type.Array(object({ field_key: Type.String(), ...usage })),
      }),
    ),
    handler: ({ ctx, params, query }) => sectionUsage(ctx, params.key, query.field_keys),
  });

  routes.get('readOptionUsage', '/api/v1/metamodel/types/:key/option-usage', {
    summary: 'Count the cards that have one option',
    query: object({ field_key: FieldKey, option_key: OptionKey }),
    responses: ok('The counts', object({ field_key: Type.String(), option_key: Type.String(), ...usage })),
    handler: ({ ctx, params, query }) => optionUsage(ctx, params.key, query.field_key, query.option_key),
  });
}

const base = '/api/v1/metamodel/types/:type_key/stakeholder-roles';

/** Write operations of the stakeholder roles of card types. */
export function registerStakeholderRoleRoutes(app: App): void {
  const routes = routesOf(app, administering);

  routes.post('createStakeholderRole', base, {
    summary: 'Add a stakeholder role to a card type',
    languages,
    description:
      'It counts towards the data quality of the type’s cards: those on which nobody has the role get a lower one.',
    body: RoleCreateBody,
    responses: createdOrJob('The role', StakeholderRoleSchema),
    errors: ['key_taken', 'metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const created = `/api/v1/metamodel/types/${params.type_key}/stakeholder-roles/${body.key}`;
      return sendChange(input, { operation: 'create_role', key: params.type_key, body }, { created });
    },
  });

  routes.patch('patchStakeholderRole', '/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    summary: 'Change a stakeholder role',
    description: 'The change of rights applies immediately to everybody who has the role.',
    languages,
    body: RolePatchBody,
    responses: { ...ok('The role', StakeholderRoleSchema, 'ETag'), ...asJob },
    errors: ['metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const { type_key: key, role_key } = params;
      return sendChange(input, { operation: 'patch_role', key, role: role_key, body } as const);
    },
  });

  for (const act of ['archive', 'restore'] as const) {
    routes.post(
      `${act}StakeholderRole`,
      `/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key/${act}`,
      {
        summary: act === 'archive' ? 'Archive a stakeholder role' : 'Make an archived role active again',
        description:
          act === 'archive'
            ? 'Its assignments remain, without its rights. The last active role of a type cannot be archived.'
            : 'Its assignments have its rights again.',
        languages,
        query: object({ force: Flag('Archive it although consumers use it, which break') }),
        responses: { ...ok('The role', ChangedRoleSchema, 'ETag'), ...asJob },
        ifMatch: true,
        errors: ['in_use', 'wrong_state', 'last_active_role', 'metamodel_busy'],
        handler: ({ params, query, ...input }) =>
          sendChange(
            input,
            { operation: `${act}_role`, key: params.type_key, role: params.role_key },
            { force: query.force },
          ),
      },
    );
  }
}
