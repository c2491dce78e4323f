import Type from 'typebox';
import { listSchedules, patchSchedule, readSchedule } from '../../domain/kernel/jobs/schedules.commands.ts';
import { closed } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Jobs';
const Key = Type.Object({ key: Type.String({ minLength: 1, maxLength: 100 }) }, closed);

/** When jobs are started by themselves. */
export function registerScheduleRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/job-schedules',
    id: 'listJobSchedules',
    tag,
    summary: 'List schedules',
    permission: 'admin.settings',
    query: listQuery(['key', 'kind', 'last_slot'], 'key', {}),
    answers: { 200: { description: 'Schedules', schema: listAnswer(Type.Ref('JobScheduleItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listSchedules(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/job-schedules/:key',
    id: 'readJobSchedule',
    tag,
    summary: 'Read one schedule',
    permission: 'admin.settings',
    params: Key,
    answers: { 200: { description: 'The schedule', schema: Type.Ref('JobSchedule#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readSchedule(ctx, params.key)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/job-schedules/:key',
    id: 'patchJobSchedule',
    tag,
    summary: 'Change when a schedule fires, or switch it off',
    description: 'Moments that passed before the change are not made up for.',
    permission: 'admin.settings',
    params: Key,
    body: Type.Object(
      {
        cron: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
        enabled: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    bodyExample: { cron: '30 1 * * 1-5', time_zone: 'Europe/Berlin' },
    answers: { 200: { description: 'The schedule', schema: Type.Ref('JobSchedule#') } },
    headers: ['If-Match'],
    handler: async ({ ctx, params, body, reply }) => {
      await patchSchedule(ctx, params.key, body);
      return sendResource(reply, await readSchedule(ctx, params.key));
    },
  });
}
