import Type, { type TSchema } from 'typebox';
import type { Services } from '../../domain/kernel/services.ts';
import {
  createSchedule,
  deleteSchedule,
  patchSchedule,
  runSchedule,
} from '../../reports/exchange/schedules/extraction-schedules.commands.ts';
import {
  listSchedules,
  readSchedule,
} from '../../reports/exchange/schedules/extraction-schedules.queries.ts';
import {
  ScheduleCreate,
  SchedulePatch,
} from '../../reports/exchange/schedules/extraction-schedules.types.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import {
  ExtractionRunSchema,
  ExtractionScheduleSchema,
  StartedExtractionRunSchema,
} from '../schemas/extractions.ts';
import type { App } from '../types.ts';
import { registerExtractionRunRoutes } from './extraction-runs.routes.ts';

const tag = 'Imports and exports';
const permission = 'inventory.export';
const permissionNote = "admin.settings for others' schedules";

/** Extractions that run by themselves. */
export function registerExtractionScheduleRoutes(app: App, services: Services): void {
  const schemas = [ExtractionScheduleSchema, ExtractionRunSchema, StartedExtractionRunSchema] as TSchema[];
  for (const schema of schemas) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/extraction-schedules',
    id: 'listExtractionSchedules',
    tag,
    summary: 'List extraction schedules',
    description: 'The own ones; all of them for who holds `admin.settings`.',
    permission,
    permissionNote,
    query: listQuery(['name', 'created_at'], 'name', {
      status: Type.Optional(
        Type.Union([Type.Literal('active'), Type.Literal('paused')], { description: 'Whether it runs' }),
      ),
    }),
    answers: { 200: { description: 'Schedules', schema: listAnswer(Type.Ref('ExtractionSchedule#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listSchedules(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/extraction-schedules',
    id: 'createExtractionSchedule',
    tag,
    summary: 'Extract cards or relations again and again',
    description:
      'At every moment of the cron expression in its time zone the request is extracted with your present rights, as far as you still hold them then, and brought to the destination. Storage must be https and public, unless OUTBOUND_ALLOW names it.',
    permission,
    body: ScheduleCreate,
    bodyExample: {
      name: 'Applications for the warehouse',
      cron: '30 2 * * *',
      time_zone: 'Europe/Berlin',
      request: { format: 'csv', types: ['Application'] },
      destination: { kind: 'disk' },
    },
    answers: { 201: { description: 'The schedule', schema: Type.Ref('ExtractionSchedule#') } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSchedule(ctx, services, body)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/extraction-schedules/:id',
    id: 'readExtractionSchedule',
    tag,
    summary: 'Read one extraction schedule',
    permission,
    permissionNote,
    params: IdParams,
    answers: { 200: { description: 'The schedule', schema: Type.Ref('ExtractionSchedule#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readSchedule(ctx, params.id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/extraction-schedules/:id',
    id: 'patchExtractionSchedule',
    tag,
    summary: 'Change, pause or resume an extraction schedule',
    description:
      'Whoever changes the request or the destination becomes the owner, with whose rights it runs. `request` and `destination` replace what was there. Moments that passed in a pause, or before the time was changed, are not made up for.',
    permission,
    permissionNote,
    params: IdParams,
    body: SchedulePatch,
    bodyExample: { cron: '0 6 * * 1-5', status: 'active' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The schedule', schema: Type.Ref('ExtractionSchedule#') } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchSchedule(ctx, services, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/extraction-schedules/:id',
    id: 'deleteExtractionSchedule',
    tag,
    summary: 'Delete an extraction schedule with its history',
    description:
      'Its folder in the data folder goes with the next clean-up; what was put into a bucket stays there.',
    permission,
    permissionNote,
    params: IdParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteSchedule(ctx, params.id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/extraction-schedules/:id/run',
    id: 'runExtractionSchedule',
    tag,
    summary: 'Run an extraction schedule now',
    description: 'With the rights of its owner; also a paused one.',
    permission,
    permissionNote,
    params: IdParams,
    answers: { 202: { description: 'The run and its job', schema: Type.Ref('StartedExtractionRun#') } },
    handler: async ({ ctx, params, reply }) => {
      const started = await runSchedule(ctx, params.id);
      return reply.code(202).header('location', started.links.self).send(started);
    },
  });

  registerExtractionRunRoutes(app, services);
}
