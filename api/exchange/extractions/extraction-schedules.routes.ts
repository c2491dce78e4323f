import Type from 'typebox';
import type { Services } from '../../../domain/kernel/services.ts';
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
  ScheduleCreate,
  SchedulePatch,
} from '../../../reports/exchange/schedules/extraction-schedules.types.ts';
import { sendResource } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import { ExtractionScheduleSchema, StartedExtractionRunSchema } from '../../schemas/extractions.ts';
import type { App } from '../../types.ts';
import { registerExtractionRunRoutes } from './extraction-runs.routes.ts';

const permissionNote = "admin.settings for others' schedules";

/** Extractions that run by themselves. */
export function registerExtractionScheduleRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Imports and exports', permission: 'inventory.export' });

  routes.get('/api/v1/extraction-schedules', {
    id: 'listExtractionSchedules',
    summary: 'List extraction schedules',
    description: 'The own ones; all of them for who holds `admin.settings`.',
    permissionNote,
    query: listQuery(['name', 'created_at'], 'name', {
      status: Type.Optional(
        Type.Union([Type.Literal('active'), Type.Literal('paused')], { description: 'Whether it runs' }),
      ),
    }),
    answers: { 200: { description: 'Schedules', schema: listAnswer(ExtractionScheduleSchema) } },
    handler: ({ ctx, query }) => listSchedules(ctx, query),
  });

  routes.post('/api/v1/extraction-schedules', {
    id: 'createExtractionSchedule',
    summary: 'Extract cards or relations again and again',
    description:
      'At every moment of the cron expression in its time zone the request is extracted with your present rights, as far as you still hold them then, and brought to the destination. Storage must be https and public, unless OUTBOUND_ALLOW names it.',
    body: ScheduleCreate,

    answers: { 201: { description: 'The schedule', schema: ExtractionScheduleSchema } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSchedule(ctx, services, body)),
  });

  routes.get('/api/v1/extraction-schedules/:id', {
    id: 'readExtractionSchedule',
    summary: 'Read one extraction schedule',
    permissionNote,
    answers: { 200: { description: 'The schedule', schema: ExtractionScheduleSchema } },
    handler: ({ ctx, params }) => readSchedule(ctx, params.id),
  });

  routes.patch('/api/v1/extraction-schedules/:id', {
    id: 'patchExtractionSchedule',
    summary: 'Change, pause or resume an extraction schedule',
    description:
      'Whoever changes the request or the destination becomes the owner, with whose rights it runs. `request` and `destination` replace what was there. Moments that passed in a pause, or before the time was changed, are not made up for.',
    permissionNote,
    body: SchedulePatch,

    headers: ['If-Match'],
    answers: { 200: { description: 'The schedule', schema: ExtractionScheduleSchema } },
    handler: ({ ctx, params, body }) => patchSchedule(ctx, services, params.id, body),
  });

  routes.delete('/api/v1/extraction-schedules/:id', {
    id: 'deleteExtractionSchedule',
    summary: 'Delete an extraction schedule with its history',
    description:
      'Its folder in the data folder goes with the next clean-up; what was put into a bucket stays there.',
    permissionNote,
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteSchedule(ctx, params.id),
  });

  routes.post('/api/v1/extraction-schedules/:id/run', {
    id: 'runExtractionSchedule',
    summary: 'Run an extraction schedule now',
    description: 'With the rights of its owner; also a paused one.',
    permissionNote,
    answers: { 202: { description: 'The run and its job', schema: StartedExtractionRunSchema } },
    handler: ({ ctx, params }) => runSchedule(ctx, params.id),
  });

  registerExtractionRunRoutes(app, services);
}
