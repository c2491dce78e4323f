import Type from 'typebox';
import { openContent, recordDownload } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { type RunFile, runFile } from '../../../reports/exchange/schedules/extraction-runs.download.ts';
import { listRuns, readRun } from '../../../reports/exchange/schedules/extraction-schedules.queries.ts';
import { fileHeaders, sendStoredFile } from '../../kernel/files/files.send.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { RunError, RunStatus } from './extractions.schemas.ts';

const ExtractionRunSchema = itemComponent('ExtractionRun', {
  id: Uuid,
  schedule_id: Uuid,
  job_id: Uuid,
  trigger: Choice(['schedule', 'manual']),
  slot: Type.String({
    format: 'date-time',
    description: 'The scheduled time of the run; part of its file names',
  }),
  status: RunStatus,
  attempts: Type.Integer({ description: 'Number of attempts' }),
  rows: Nullable(Type.Integer()),
  bytes: Nullable(Type.Integer()),
  sha256: Nullable(Type.String()),
  after: Nullable(
    Type.String({ description: 'The position after which an incremental run extracted changes' }),
  ),
  position: Nullable(Position),
  file_name: Nullable(Type.String()),
  error: RunError,
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  removed_at: Nullable(Type.String({ format: 'date-time', description: 'When its files were removed' })),
  links: object({ file: Nullable(Type.String()), manifest: Nullable(Type.String()) }),
});

const permissionNote = "admin.settings for others' schedules";

const media: Record<RunFile, string[]> = {
  file: [
    'text/csv',
    'application/x-ndjson',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.apache.parquet',
  ],
  manifest: ['application/json'],
};
const schemas = {
  file: Type.String({ contentMediaType: 'application/octet-stream' }),
  manifest: OpenObject,
};

/** The runs of extraction schedules and their files. */
export function registerExtractionRunRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.get('/api/v1/extraction-schedules/:id/runs', {
    id: 'listExtractionRuns',
    summary: 'List the runs of an extraction schedule, newest first',
    permissionNote,
    query: listQuery(['created_at', 'slot'], 'created_at', {}),
    responses: page('Runs', ExtractionRunSchema),
    handler: ({ ctx, params, query }) => listRuns(ctx, params.id, query),
  });

  routes.get('/api/v1/extraction-schedules/:id/runs/:run_id', {
    id: 'readExtractionRun',
    summary: 'Read one run of an extraction schedule',
    permissionNote,
    responses: ok('The run', ExtractionRunSchema),
    handler: ({ ctx, params }) => readRun(ctx, params.id, params.run_id),
  });

  registerDownload('file', 'downloadExtractionFile', 'Download the file of a run');
  registerDownload('manifest', 'downloadExtractionManifest', 'Download the manifest of a run’s file');

  function registerDownload(which: RunFile, id: string, summary: string): void {
    const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

    routes.get(`/api/v1/extraction-schedules/:id/runs/:run_id/${which}`, {
      id,
      summary,
      description:
        'Stored here as long as at the destination. Resume an interrupted download with `Range` and `If-Range`.',
      permissionNote:
        "admin.settings for others' schedules; admin.export_workspace for others' files; costs.view for files that may contain costs",
      responses: {
        200: {
          description: 'The file',
          schema: schemas[which],
          mediaType: media[which],
          headers: fileHeaders,
        },
        206: {
          description: 'The requested bytes',
          schema: schemas[which],
          mediaType: media[which],
          headers: fileHeaders,
        },
      },
      headers: ['Range', 'If-None-Match'],
      errors: ['range_not_satisfiable'],
      handler: async ({ ctx, params, request, reply }) =>
        await sendStoredFile(request, reply, await runFile(ctx, params.id, params.run_id, which), {
          open: (file, range) => openContent(services.blobs, file.id, range),
          opened: (file, range) => recordDownload(ctx, { run_id: params.run_id }, file, range),
        }),
    });
  }
}
