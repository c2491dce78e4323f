import Type from 'typebox';
import { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  component,
  itemComponent,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import {
  createSchedule,
  deleteSchedule,
  patchSchedule,
  runSchedule,
} from '../../../reports/exchange/schedules/extraction-schedules.commands.ts';
import {
  listSchedules,
  readSchedule,
} from '../../../reports/exchange/schedules/extraction-schedules.queries.ts';
import {
  Destination,
  ScheduleCreate,
  SchedulePatch,
} from '../../../reports/exchange/schedules/extraction-schedules.types.ts';
import { sendResource } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { registerExtractionRunRoutes } from './extraction-runs.routes.ts';
import { RunError, RunStatus } from './extractions.schemas.ts';

const ExtractionScheduleSchema = itemComponent('ExtractionSchedule', {
  id: Uuid,
  name: Type.String(),
  status: Choice(['active', 'paused']),
  paused_reason: Nullable(Type.String()),
  cron: Type.String(),
  time_zone: Type.String(),
  request: ExportRequest,
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

const permissionNote = "admin.settings for others' schedules";

/** Scheduled extractions. */
export function registerExtractionScheduleRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.get('/api/v1/extraction-schedules', {
    id: 'listExtractionSchedules',
    summary: 'List extraction schedules',
    description: 'The caller’s schedules; all of them with `admin.settings`.',
    permissionNote,
    query: listQuery(['name', 'created_at'], 'name', {
      status: Type.Optional(Choice(['active', 'paused'], 'Whether it runs')),
    }),
    responses: page('Schedules', ExtractionScheduleSchema),
    handler: ({ ctx, query }) => listSchedules(ctx, query),
  });

  routes.post('/api/v1/extraction-schedules', {
    id: 'createExtractionSchedule',
    summary: 'Schedule an extraction of cards or relations',
    description:
      'At the times of the cron expression in its time zone, the request is extracted and delivered to the destination. A run has your current rights, except those that you have lost by then. Storage must be https and public, unless OUTBOUND_ALLOW lists its host.',
    body: ScheduleCreate,
    responses: { 201: { description: 'The schedule', schema: ExtractionScheduleSchema } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSchedule(ctx, services, body)),
  });

  routes.get('/api/v1/extraction-schedules/:id', {
    id: 'readExtractionSchedule',
    summary: 'Read one extraction schedule',
    permissionNote,
    responses: ok('The schedule', ExtractionScheduleSchema),
    handler: ({ ctx, params }) => readSchedule(ctx, params.id),
  });

  routes.patch('/api/v1/extraction-schedules/:id', {
    id: 'patchExtractionSchedule',
    summary: 'Change, pause or resume an extraction schedule',
    description:
      'A caller who changes the request or the destination, or resumes the schedule, becomes the owner, with whose rights it runs. `request` and `destination` are replaced completely. Runs that were missed in a pause, or before a change of the time, are skipped.',
    permissionNote,
    body: SchedulePatch,
    responses: ok('The schedule', ExtractionScheduleSchema),
    handler: ({ ctx, params, body }) => patchSchedule(ctx, services, params.id, body),
  });

  routes.delete('/api/v1/extraction-schedules/:id', {
    id: 'deleteExtractionSchedule',
    summary: 'Delete an extraction schedule with its history',
    description: 'Its folder in the data folder is removed by the next clean-up; objects in a bucket remain.',
    permissionNote,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteSchedule(ctx, params.id),
  });

  routes.post('/api/v1/extraction-schedules/:id/run', {
    id: 'runExtractionSchedule',
    summary: 'Run an extraction schedule now',
    description: 'With the rights of its owner. A paused schedule can be run too.',
    permissionNote,
    responses: { 202: { description: 'The run and its job', schema: StartedExtractionRunSchema } },
    handler: ({ ctx, params }) => runSchedule(ctx, params.id),
  });

  registerExtractionRunRoutes(app, services);
}
