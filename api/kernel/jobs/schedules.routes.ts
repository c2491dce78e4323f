import Type from 'typebox';
import {
  listSchedules,
  patchSchedule,
  readSchedule,
} from '../../../domain/kernel/jobs/schedules.commands.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import { JobScheduleItemSchema, JobScheduleSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';

const Key = object({ key: Type.String({ minLength: 1, maxLength: 100 }) });

/** Schedules of recurring jobs. */
export function registerScheduleRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Jobs' });

  routes.get('/api/v1/job-schedules', {
    id: 'listJobSchedules',
    summary: 'List schedules',
    permission: 'admin.settings',
    query: listQuery(['key', 'kind', 'last_slot'], 'key', {}),
    answers: page('Schedules', JobScheduleItemSchema),
    handler: ({ ctx, query }) => listSchedules(ctx, query),
  });

  routes.get('/api/v1/job-schedules/:key', {
    id: 'readJobSchedule',
    summary: 'Read one schedule',
    permission: 'admin.settings',
    params: Key,
    answers: ok('The schedule', JobScheduleSchema),
    handler: ({ ctx, params }) => readSchedule(ctx, params.key),
  });

  routes.patch('/api/v1/job-schedules/:key', {
    id: 'patchJobSchedule',
    summary: 'Change the time of a schedule, or disable it',
    description: 'Runs that were missed before the change are skipped.',
    permission: 'admin.settings',
    params: Key,
    body: object({
      cron: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      enabled: Type.Optional(Type.Boolean()),
    }),

    answers: ok('The schedule', JobScheduleSchema),
    headers: ['If-Match'],
    handler: async ({ ctx, params, body }) => {
      await patchSchedule(ctx, params.key, body);
      return await readSchedule(ctx, params.key);
    },
  });
}
