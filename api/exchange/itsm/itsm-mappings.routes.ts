import Type from 'typebox';
import { MappingCreate, MappingPatch } from '../../../domain/exchange/itsm/mappings.input.ts';
import { listMappings, readMapping } from '../../../domain/exchange/itsm/mappings.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object, Uuid } from '../../../domain/kernel/shapes.ts';
import {
  createMapping,
  deleteMapping,
  patchMapping,
} from '../../../integrations/itsm/mappings/mapping.commands.ts';
import { readCoverage } from '../../../integrations/itsm/mappings/mapping.coverage.ts';
import { previewMapping } from '../../../integrations/itsm/mappings/mapping.preview.ts';
import { validateMapping } from '../../../integrations/itsm/mappings/mapping.validate.ts';
import { sendResource } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import {
  ItsmMappingCoverageSchema,
  ItsmMappingPreviewSchema,
  ItsmMappingSchema,
  ItsmMappingValidationSchema,
} from '../../schemas/itsm-mappings.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/mappings';

const mapping = (description: string) => ({ description, schema: ItsmMappingSchema });

/** Mappings of card types to tables of a remote. */
export function registerItsmMappingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.get(base, {
    id: 'listItsmMappings',
    summary: 'List mappings',
    permission: see,
    query: listQuery(['created_at', 'card_type_key', 'remote_table'], 'created_at', {
      connection_id: Type.Optional({ ...Uuid, description: 'Those of one connection' }),
      card_type_key: Type.Optional(Type.String({ maxLength: 100, description: 'Those of one card type' })),
    }),
    answers: { 200: { description: 'Mappings', schema: listAnswer(ItsmMappingSchema) } },
    handler: ({ ctx, query }) => listMappings(ctx, query),
  });

  routes.post(base, {
    id: 'createItsmMapping',
    summary: 'Map a card type to a table of a remote',
    description:
      'Checked against the metamodel with each field named; nothing is called yet: validate it next. It can do no more than its maker may: writing cards needs the rights for that, and costs the right to see them.',
    permission: manage,
    permissionNote: usesNote,
    body: MappingCreate,

    answers: { 201: mapping('The mapping') },
    errors: ['mapping_exists'],
    handler: async ({ ctx, body, reply }) => sendResource(reply.code(201), await createMapping(ctx, body)),
  });

  routes.get('/api/v1/itsm-sync/mappings/:mapping_id', {
    id: 'readItsmMapping',
    summary: 'Read one mapping',
    permission: see,
    answers: { 200: mapping('The mapping') },
    handler: ({ ctx, params }) => readMapping(ctx, params.mapping_id),
  });

  routes.patch('/api/v1/itsm-sync/mappings/:mapping_id', {
    id: 'patchItsmMapping',
    summary: 'Change, pause or resume a mapping',
    description:
      'Rows of fields and of relations are replaced as a whole. A value whose transform changes counts as never synchronised. When filters, direction, columns, transforms or identity change the next run reads everything; else what has changed. Needs that no run is under way or waits for a decision, except for `is_active`, `schedule`, `follows_changes` and `complete_every_hours`.',
    permission: manage,
    permissionNote: usesNote,
    body: MappingPatch,

    headers: ['If-Match'],
    answers: { 200: mapping('The mapping') },
    errors: ['itsm_run_open', 'mapping_exists', 'wrong_state'],
    handler: ({ ctx, params, body }) => patchMapping(ctx, params.mapping_id, body),
  });

  routes.delete('/api/v1/itsm-sync/mappings/:mapping_id', {
    id: 'deleteItsmMapping',
    summary: 'Delete a mapping',
    description:
      'What is paired, and what its runs have planned, is forgotten. Cards and records stay, and so does the list of its runs.',
    permission: manage,
    headers: ['If-Match'],
    errors: ['itsm_run_open', 'mapping_in_use'],
    handler: ({ ctx, params }) => deleteMapping(ctx, params.mapping_id),
  });

  registerItsmMappingCheckRoutes(app, services);
}

/** Checks of mappings. */
function registerItsmMappingCheckRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('/api/v1/itsm-sync/mappings/:mapping_id/validate', {
    id: 'validateItsmMapping',
    summary: 'Check a mapping against the remote as it is now',
    description:
      'Columns, their kinds, choices and lengths, references, kinds of relations, names in the filter and the rights of the account. When nothing is wrong the dictionary of the table is kept, and later runs notice when it changes. Takes 10 seconds at most; a mapping with problems is answered with 200 and `valid: false`.',
    permission: manage,
    answers: { 200: { description: 'What was found', schema: ItsmMappingValidationSchema } },
    errors: ['conflict', 'upstream_failed', 'wrong_state'],
    handler: ({ ctx, params }) => validateMapping(ctx, services, params.mapping_id),
  });

  routes.post('/api/v1/itsm-sync/mappings/:mapping_id/preview', {
    id: 'previewItsmMapping',
    summary: 'See records and cards as the mapping tells them on the other side',
    description:
      'Live records with the values that a card would hold, why others cannot be told, and which card each record is; then cards without a record as they would be written outside. Nothing is written. Takes 10 seconds at most.',
    permission: manage,
    query: object({
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
    }),
    answers: { 200: { description: 'The sample', schema: ItsmMappingPreviewSchema } },
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => previewMapping(ctx, services, params.mapping_id, query),
  });

  routes.get('/api/v1/itsm-sync/mappings/:mapping_id/coverage', {
    id: 'readItsmMappingCoverage',
    summary: 'See how much of both sides a mapping reaches',
    description:
      'Fields and columns that are mapped or not, cards and records with and without the other half.',
    permission: see,
    answers: { 200: { description: 'The figures', schema: ItsmMappingCoverageSchema } },
    handler: ({ ctx, params }) => readCoverage(ctx, params.mapping_id),
  });
}
