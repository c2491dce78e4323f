import Type, { type TSchema } from 'typebox';
import { MappingCreate, MappingPatch } from '../../domain/exchange/itsm/mappings.input.ts';
import { listMappings, readMapping } from '../../domain/exchange/itsm/mappings.queries.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import {
  createMapping,
  deleteMapping,
  patchMapping,
} from '../../integrations/itsm/mappings/mapping.commands.ts';
import { readCoverage } from '../../integrations/itsm/mappings/mapping.coverage.ts';
import { previewMapping } from '../../integrations/itsm/mappings/mapping.preview.ts';
import { validateMapping } from '../../integrations/itsm/mappings/mapping.validate.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import {
  ItsmMappingCoverageSchema,
  ItsmMappingPreviewSchema,
  ItsmMappingSchema,
  ItsmMappingValidationSchema,
} from '../schemas/itsm-mappings.ts';
import type { App } from '../types.ts';
import { usesNote } from './itsm-rights.ts';

const tag = 'ITSM synchronisation';
const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/mappings';
const params = Type.Object({ mapping_id: Uuid }, closed);

const mapping = (description: string) => ({ description, schema: Type.Ref('ItsmMapping#') });

/** Mappings of card types to tables of a remote. */
export function registerItsmMappingRoutes(app: App, services: Services): void {
  const schemas = [
    ItsmMappingSchema,
    ItsmMappingValidationSchema,
    ItsmMappingPreviewSchema,
    ItsmMappingCoverageSchema,
  ];
  for (const schema of schemas as TSchema[]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: base,
    id: 'listItsmMappings',
    tag,
    summary: 'List mappings',
    permission: see,
    query: listQuery(['created_at', 'card_type_key', 'remote_table'], 'created_at', {
      connection_id: Type.Optional({ ...Uuid, description: 'Those of one connection' }),
      card_type_key: Type.Optional(Type.String({ maxLength: 100, description: 'Those of one card type' })),
    }),
    answers: { 200: { description: 'Mappings', schema: listAnswer(Type.Ref('ItsmMapping#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listMappings(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: base,
    id: 'createItsmMapping',
    tag,
    summary: 'Map a card type to a table of a remote',
    description:
      'Checked against the metamodel with each field named; nothing is called yet: validate it next. It can do no more than its maker may: writing cards needs the rights for that, and costs the right to see them.',
    permission: manage,
    permissionNote: usesNote,
    body: MappingCreate,
    bodyExample: {
      connection_id: '0199f0a4-0000-7000-8000-000000000001',
      card_type_key: 'Application',
      remote_table: 'cmdb_ci_business_app',
      sync_direction: 'bidirectional',
      field_mappings: [
        { card_field: 'name', remote_field: 'name', is_identity: true },
        { card_field: 'description', remote_field: 'short_description', direction: 'newest_wins' },
      ],
    },
    answers: { 201: mapping('The mapping') },
    errors: ['mapping_exists'],
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createMapping(ctx, body)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:mapping_id`,
    id: 'readItsmMapping',
    tag,
    summary: 'Read one mapping',
    permission: see,
    params,
    answers: { 200: mapping('The mapping') },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readMapping(ctx, params.mapping_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: `${base}/:mapping_id`,
    id: 'patchItsmMapping',
    tag,
    summary: 'Change, pause or resume a mapping',
    description:
      'Rows of fields and of relations are replaced as a whole. What is told in another way from now on counts as never agreed on. When filters, direction, columns, transforms or identity change the next run reads everything; else what has changed. Needs that no run is under way or waits for a decision, except for `is_active`, `schedule`, `follows_changes` and `complete_every_hours`.',
    permission: manage,
    permissionNote: usesNote,
    params,
    body: MappingPatch,
    bodyExample: { schedule: { cron: '*/15 * * * *', time_zone: 'Europe/Berlin' } },
    headers: ['If-Match'],
    answers: { 200: mapping('The mapping') },
    errors: ['itsm_run_open', 'mapping_exists', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchMapping(ctx, params.mapping_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: `${base}/:mapping_id`,
    id: 'deleteItsmMapping',
    tag,
    summary: 'Delete a mapping',
    description:
      'What is paired, and what its runs have planned, is forgotten. Cards and records stay, and so does the list of its runs.',
    permission: manage,
    params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['itsm_run_open', 'mapping_in_use'],
    handler: async ({ ctx, params, reply }) => {
      await deleteMapping(ctx, params.mapping_id);
      return reply.code(204).send();
    },
  });

  registerItsmMappingCheckRoutes(app, services);
}

/** Checks of mappings. */
function registerItsmMappingCheckRoutes(app: App, services: Services): void {
  operation(app, {
    method: 'POST',
    url: `${base}/:mapping_id/validate`,
    id: 'validateItsmMapping',
    tag,
    summary: 'Check a mapping against the remote as it is now',
    description:
      'Columns, their kinds, choices and lengths, references, kinds of relations, names in the filter and the rights of the account. When nothing is wrong the dictionary of the table is kept, and later runs notice when it changes. Takes 10 seconds at most; a mapping with problems is answered with 200 and `valid: false`.',
    permission: manage,
    params,
    answers: { 200: { description: 'What was found', schema: Type.Ref('ItsmMappingValidation#') } },
    errors: ['conflict', 'upstream_failed', 'wrong_state'],
    handler: async ({ ctx, params, reply }) =>
      reply.send(await validateMapping(ctx, services, params.mapping_id)),
  });

  operation(app, {
    method: 'POST',
    url: `${base}/:mapping_id/preview`,
    id: 'previewItsmMapping',
    tag,
    summary: 'See records and cards as the mapping tells them on the other side',
    description:
      'Live records with the values that a card would hold, why others cannot be told, and which card each record is; then cards without a record as they would be written outside. Nothing is written. Takes 10 seconds at most.',
    permission: manage,
    params,
    query: Type.Object(
      {
        limit: Type.Integer({
          minimum: 1,
          maximum: 50,
          default: 10,
          description: 'So many records, and so many cards',
        }),
        remote_ids: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 5000,
            description: 'These records, separated by commas; else the first that fit the filter',
          }),
        ),
      },
      closed,
    ),
    answers: { 200: { description: 'The sample', schema: Type.Ref('ItsmMappingPreview#') } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: async ({ ctx, params, query, reply }) =>
      reply.send(await previewMapping(ctx, services, params.mapping_id, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/:mapping_id/coverage`,
    id: 'readItsmMappingCoverage',
    tag,
    summary: 'See how much of both sides a mapping reaches',
    description:
      'Fields and columns that are mapped or not, cards and records with and without the other half.',
    permission: see,
    params,
    answers: { 200: { description: 'The figures', schema: Type.Ref('ItsmMappingCoverage#') } },
    handler: async ({ ctx, params, reply }) => reply.send(await readCoverage(ctx, params.mapping_id)),
  });
}
