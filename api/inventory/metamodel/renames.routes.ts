import Type from 'typebox';
import { DeprecationSchema, TypeKey } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { administering, asJob, impactQuery, languages, sendChange } from './metamodel.answers.ts';
import { ChangedCardTypeSchema, ChangedRelationTypeSchema, ImpactSchema } from './metamodel.schemas.ts';

const { removal, note } = DeprecationSchema.properties;
const KeyOf = (what: string) => Type.String({ minLength: 1, maxLength: 100, description: what });
const OptionRename = object({
  field_key: KeyOf('The field'),
  option_key: KeyOf('The present key of the option'),
  key: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$', examples: ['critical'] }),
  removal,
  note,
});

const followers =
  'stored objects that name it follow. Until the `removal` of the former key, requests and imports may name it; responses have the new key. Objects that cannot follow break, which needs `force`.';
const errors: ErrorCode[] = ['in_use', 'wrong_state', 'built_in_frozen', 'metamodel_busy'];
const changedType = (schema: typeof ChangedCardTypeSchema | typeof ChangedRelationTypeSchema, what: string) =>
  ({
    errors,
    languages,
    query: impactQuery,
    ifMatch: true,
    responses: {
      ...ok(`The ${what}, or the impact of a dry run`, Type.Union([schema, ImpactSchema]), 'ETag'),
      ...asJob,
    },
  }) as const;

/** Operations that give parts of the metamodel another key. */
export function registerRenameRoutes(app: App): void {
  const routes = routesOf(app, administering);
  const how = ({ dry_run, force }: { dry_run?: boolean; force?: boolean }) => ({
    ...(dry_run === undefined ? {} : { dryRun: dry_run }),
    ...(force === undefined ? {} : { force }),
    resource: !dry_run,
  });

  routes.post('renameField', '/api/v1/metamodel/types/:key/fields/:field_key/rename', {
    summary: 'Give a field another key',
    description: `The values of cards and ${followers} Over OData \`$select\`, \`$filter\` and \`$orderby\` may name it by the former key as well.`,
    ...changedType(ChangedCardTypeSchema, 'card type'),
    body: object({ key: TypeKey, removal, note }),
    handler: ({ params: { key, field_key }, query, body, ...input }) =>
      sendChange(input, { operation: 'rename_field', key, body: { ...body, field_key } }, how(query)),
  });

  routes.post('renameOption', '/api/v1/metamodel/types/:key/rename', {
    summary: 'Give an option of a field another key',
    description: `The values of cards and ${followers}`,
    ...changedType(ChangedCardTypeSchema, 'card type'),
    body: OptionRename,
    handler: ({ params: { key }, query, body, ...input }) =>
      sendChange(input, { operation: 'rename_field', key, body }, how(query)),
  });

  routes.post('renameRelationOption', '/api/v1/metamodel/relation-types/:key/rename', {
    summary: 'Give an option of a field of relations another key',
    description: `The values of relations and ${followers}`,
    ...changedType(ChangedRelationTypeSchema, 'relation type'),
    body: OptionRename,
    handler: ({ params: { key }, query, body, ...input }) =>
      sendChange(input, { operation: 'rename_relation_option', key, body }, how(query)),
  });
}
