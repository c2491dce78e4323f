import Type from 'typebox';
import { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { openContent, recordDownload } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  component,
  itemComponent,
  Nullable,
  NullableText,
  OpenObject,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import { type RunFile, runFile } from '../../../reports/exchange/schedules/extraction-runs.store.ts';
import {
  createSchedule,
  deleteSchedule,
  patchSchedule,
  runSchedule,
} from '../../../reports/exchange/schedules/extraction-schedules.commands.ts';
import {
  extractionScheduleList,
  readRun,
  readSchedule,
  runHistory,
} from '../../../reports/exchange/schedules/extraction-schedules.queries.ts';
import {
  Destination,
  ScheduleCreate,
  SchedulePatch,
} from '../../../reports/exchange/schedules/extraction-schedules.types.ts';
import { ScheduledReport } from '../../../reports/exchange/schedules/scheduled-report.types.ts';
import { mediaOf } from '../../inventory/reports/report.file.ts';
import { sendResource } from '../../json.ts';
import { fileHeaders, sendStoredFile } from '../../kernel/files/files.send.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const RunStatus = Choice(['queued', 'running', 'succeeded', 'failed', 'cancelled']);
const RunError = Nullable(
  object(
    { code: Type.String(), message: Type.String() },
    { description: 'Why it failed, while it runs its last attempt; or to whom a succeeded run was not sent' },
  ),
);

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
  after: NullableText('The position after which an incremental run extracted changes'),
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
    XLSX,
    'application/vnd.apache.parquet',
    ...(['svg', 'png', 'pdf', 'pptx'] as const).map(mediaOf),
  ],
  manifest: ['application/json'],
};
const schemas = {
  file: Type.String({ contentMediaType: 'application/octet-stream' }),
  manifest: OpenObject,
};

/** The runs of extraction schedules and their files. */
function registerExtractionRunRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.list('listExtractionRuns', '/api/v1/extraction-schedules/:id/runs', runHistory, {
    summary: 'List the runs of an extraction schedule, newest first',
    permissionNote,
    responses: page('Runs', ExtractionRunSchema),
  });

  routes.get('readExtractionRun', '/api/v1/extraction-schedules/:id/runs/:run_id', {
    summary: 'Read one run of an extraction schedule',
    permissionNote,
    responses: ok('The run', ExtractionRunSchema),
    handler: ({ ctx, params }) => readRun(ctx, params.id, params.run_id),
  });

  registerDownload('file', 'downloadExtractionFile', 'Download the file of a run');
  registerDownload('manifest', 'downloadExtractionManifest', 'Download the manifest of a run’s file');

  function registerDownload(which: RunFile, id: string, summary: string): void {
    const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });
    const content = { schema: schemas[which], mediaType: media[which], headers: fileHeaders };

    routes.get(id, `/api/v1/extraction-schedules/:id/runs/:run_id/${which}`, {
      summary,
      description:
        'Stored here as long as at the destination. Resume an interrupted download with `Range` and `If-Range`.',
      permissionNote:
        "admin.settings for others' schedules; admin.export_workspace for others' files; costs.view for files that may contain costs",
      responses: {
        200: { description: 'The file', ...content },
        206: { description: 'The requested bytes', ...content },
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

const ExtractionScheduleSchema = itemComponent('ExtractionSchedule', {
  id: Uuid,
  name: Type.String(),
  status: Choice(['active', 'paused']),
  paused_reason: Nullable(Type.String()),
  cron: Type.String(),
  time_zone: Type.String(),
  request: Nullable(ExportRequest),
  report: Nullable(ScheduledReport),
  report_name: NullableText('The name of the saved report, if you see it'),
  incremental: Type.Boolean(),
  destination: Destination,
  keep_runs: Type.Integer(),
  keep_days: Nullable(Type.Integer()),
  last_run: Nullable(
    object(
      {
        id: Uuid,
        status: RunStatus,
        started_at: Nullable(Timestamp),
        finished_at: Nullable(Timestamp),
        error: RunError,
      },
      { description: 'The run with the latest scheduled time' },
    ),
  ),
  next_run_at: Nullable(Type.String({ format: 'date-time', description: 'Null while it is paused' })),
  owner_id: Nullable(Uuid),
  owner_name: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const StartedExtractionRunSchema = component('StartedExtractionRun', {
  run_id: Uuid,
  job_id: Uuid,
  status: Type.Literal('queued'),
  links: object({ self: Type.String() }),
});

/** Scheduled extractions. */
export function registerExtractionScheduleRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.list('listExtractionSchedules', '/api/v1/extraction-schedules', extractionScheduleList, {
    summary: 'List extraction schedules',
    description: 'The caller’s schedules; all of them with `admin.settings`.',
    permissionNote,
    responses: page('Schedules', ExtractionScheduleSchema),
  });

  routes.post('createExtractionSchedule', '/api/v1/extraction-schedules', {
    summary: 'Schedule an extraction of cards or relations, or a saved report',
    description:
      'At the times of the cron expression in its time zone, the request is extracted, or the saved report drawn as it is then, and delivered to the destination. A run has your current rights, except those that you have lost by then. Storage must be https or SFTP and public, unless OUTBOUND_ALLOW lists its host.',
    body: ScheduleCreate,
    responses: { 201: { description: 'The schedule', schema: ExtractionScheduleSchema } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSchedule(ctx, services, body)),
  });

  routes.get('readExtractionSchedule', '/api/v1/extraction-schedules/:id', {
    summary: 'Read one extraction schedule',
    permissionNote,
    responses: ok('The schedule', ExtractionScheduleSchema),
    handler: ({ ctx, params }) => readSchedule(ctx, params.id),
  });

  routes.patch('patchExtractionSchedule', '/api/v1/extraction-schedules/:id', {
    summary: 'Change, pause or resume an extraction schedule',
    description:
      'A caller who changes the request, the report or the destination, or resumes the schedule, becomes the owner, with whose rights it runs. `request`, `report` and `destination` are replaced completely; a request replaces a report, and the other way round. Runs that were missed in a pause, or before a change of the time, are skipped.',
    permissionNote,
    body: SchedulePatch,
    responses: ok('The schedule', ExtractionScheduleSchema),
    handler: ({ ctx, params, body }) => patchSchedule(ctx, services, params.id, body),
  });

  routes.delete('deleteExtractionSchedule', '/api/v1/extraction-schedules/:id', {
    summary: 'Delete an extraction schedule with its history',
    description:
      'Its folder in the data folder is removed by the next clean-up; files in a bucket or on an SFTP server remain.',
    permissionNote,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteSchedule(ctx, params.id),
  });

  routes.post('runExtractionSchedule', '/api/v1/extraction-schedules/:id/run', {
    summary: 'Run an extraction schedule now',
    description: 'With the rights of its owner. A paused schedule can be run too.',
    permissionNote,
    responses: { 202: { description: 'The run and its job', schema: StartedExtractionRunSchema } },
    errors: ['wrong_state', 'too_many_requests'],
    handler: ({ ctx, params }) => runSchedule(ctx, params.id),
  });

  registerExtractionRunRoutes(app, services);
}
