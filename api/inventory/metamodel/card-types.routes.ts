import Type from 'typebox';
import { fieldUsage, optionUsage, sectionUsage } from '../../../domain/inventory/metamodel/usage.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { CardTypeSchema } from '../../schemas/metamodel.ts';
import { CardTypeCreateBody, CardTypePatchBody, ImpactSchema } from '../../schemas/metamodel-bodies.ts';
import type { App } from '../../types.ts';
import { administering, asJob, localised, localisedAnswer, sendChange, tag } from './metamodel.answers.ts';
import { dryRun, force, KeyParams } from './metamodel.parameters.ts';

const FieldKey = Type.String({ minLength: 1, maxLength: 100, description: 'A field of the type' });
const OptionKey = Type.String({ minLength: 1, maxLength: 100, description: 'An option of the field' });
const cardType = CardTypeSchema;
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
      201: { description: 'The card type', schema: cardType, headers: ['Location', 'ETag'] },
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
        Type.Union([cardType, ImpactSchema]),
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
