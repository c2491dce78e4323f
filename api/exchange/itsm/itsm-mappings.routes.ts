import Type from 'typebox';
import { MappingCreate, MappingPatch } from '../../../domain/exchange/itsm/mappings.input.ts';
import { mappingList } from '../../../domain/exchange/itsm/mappings.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { FilledText, IntegerIn, object } from '../../../domain/kernel/shapes.ts';
import {
  createMapping,
  deleteMapping,
  patchMapping,
} from '../../../integrations/exchange/itsm/mappings/mapping.commands.ts';
import {
  MappingCoverage,
  readCoverage,
} from '../../../integrations/exchange/itsm/mappings/mapping.coverage.ts';
import {
  MappingPreview,
  previewMapping,
} from '../../../integrations/exchange/itsm/mappings/mapping.preview.ts';
import { MappingValidation } from '../../../integrations/exchange/itsm/mappings/mapping.remote.ts';
import { validateMapping } from '../../../integrations/exchange/itsm/mappings/mapping.validate.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { ItsmMappingSchema } from './itsm-mappings.schemas.ts';
import { usesNote } from './itsm-rights.ts';

const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync/mappings';

/** Mappings of card types to tables of a remote. */
export function registerItsmMappingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.list('listItsmMappings', base, mappingList, {
    summary: 'List mappings',
    responses: page('Mappings', ItsmMappingSchema),
  });

  routes.post('createItsmMapping', base, {
    summary: 'Map a card type to a table of a remote',
    description:
      'The mapping is checked against the metamodel; the remote is not called: validate the mapping next. The caller needs the permissions that the mapping uses, for example to write cards or to see costs.',
    permission: manage,
    permissionNote: usesNote,
    body: MappingCreate,
    responses: created('The mapping', ItsmMappingSchema),
    errors: ['mapping_exists'],
    handler: ({ ctx, body }) => createMapping(ctx, body),
  });

  routes.item('readItsmMapping', '/api/v1/itsm-sync/mappings/:mapping_id', mappingList, 'mapping', {
    summary: 'Read one mapping',
    responses: ok('The mapping', ItsmMappingSchema),
  });

  routes.patch('patchItsmMapping', '/api/v1/itsm-sync/mappings/:mapping_id', {
    summary: 'Change, pause or resume a mapping',
    description:
      '`field_mappings` and `relation_mappings` are replaced as a whole. A field whose transform changes counts as never synchronised. If filters, direction, columns, transforms or identity fields change, the next run is a full read. Only `is_active`, `schedule`, `follows_changes` and `complete_every_hours` can be changed while the mapping has an open run.',
    permission: manage,
    permissionNote: usesNote,
    body: MappingPatch,
    responses: ok('The mapping', ItsmMappingSchema),
    errors: ['itsm_run_open', 'mapping_exists', 'wrong_state'],
    handler: ({ ctx, params, body }) => patchMapping(ctx, params.mapping_id, body),
  });

  routes.delete('deleteItsmMapping', '/api/v1/itsm-sync/mappings/:mapping_id', {
    summary: 'Delete a mapping',
    description:
      'Deletes its pairs and the plans of its runs. Cards, records and the list of its runs are retained.',
    permission: manage,
    ifMatch: true,
    errors: ['itsm_run_open', 'mapping_in_use'],
    handler: ({ ctx, params }) => deleteMapping(ctx, params.mapping_id),
  });

  registerItsmMappingCheckRoutes(app, services);
}

/** Checks of mappings. */
function registerItsmMappingCheckRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('validateItsmMapping', '/api/v1/itsm-sync/mappings/:mapping_id/validate', {
    summary: 'Check a mapping against the remote',
    description:
      'Checks columns, their types, choices and lengths, references, relation types, columns in the filter and the rights of the account. If there is no error, the dictionary of the table is stored, and later runs report when it changes. Takes at most 10 seconds. The response for a mapping with errors is 200 with `valid: false`.',
    permission: manage,
    responses: ok('The result', MappingValidation),
    errors: ['conflict', 'upstream_failed', 'wrong_state'],
    handler: ({ ctx, params }) => validateMapping(ctx, services, params.mapping_id),
  });

  routes.post('previewItsmMapping', '/api/v1/itsm-sync/mappings/:mapping_id/preview', {
    summary: 'Preview how a mapping converts records and cards',
    description:
      'Current records with the values that a card would get, the values that cannot be converted, and the match of each record; then cards without a record, as they would be written to the remote. Nothing is written. Takes at most 10 seconds.',
    permission: manage,
    query: object({
      limit: IntegerIn(1, 50, 'The most records, and the most cards', 10),
      remote_ids: Type.Optional(
        FilledText(
          5000,
          'The keys of records, separated by commas; default: the first records of the filter',
        ),
      ),
    }),
    responses: ok('The sample', MappingPreview),
    errors: ['upstream_failed', 'wrong_state'],
    handler: ({ ctx, params, query }) => previewMapping(ctx, services, params.mapping_id, query),
  });

  routes.get('readItsmMappingCoverage', '/api/v1/itsm-sync/mappings/:mapping_id/coverage', {
    summary: 'Read how much of both sides a mapping covers',
    description: 'Mapped and unmapped fields and columns; paired and unpaired cards and records.',
    permission: 'itsm_sync.view',
    responses: ok('The figures', MappingCoverage),
    handler: ({ ctx, params }) => readCoverage(ctx, params.mapping_id),
  });
}
