import Type from 'typebox';
import { cancelJob, retryJob } from '../../../domain/kernel/jobs/jobs.commands.ts';
import { listJobs, readJob } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { sendResource } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import { JobItemSchema, JobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { registerDownloadRoute } from './jobs.download.ts';
import { registerScheduleRoutes } from './schedules.routes.ts';

/** Work in the background: what became of it, its files, and when it is started by itself. */
export function registerJobRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Jobs' });

  routes.get('/api/v1/jobs', {
    id: 'listJobs',
    summary: 'List jobs',
    description:
      'The own ones, for a token with scopes those that run within them; all of them for who holds `admin.events`.',
    permission: 'login',
    query: listQuery(['created_at', 'finished_at', 'kind', 'status'], 'created_at', {
      kind: Type.Optional(Type.String({ maxLength: 500, description: 'Comma-separated kinds' })),
      status: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Comma-separated, of queued, running, succeeded, failed, cancelled',
        }),
      ),
    }),
    answers: { 200: { description: 'Jobs, newest first', schema: listAnswer(JobItemSchema) } },
    handler: ({ ctx, query }) => listJobs(ctx, query),
  });

  routes.get('/api/v1/jobs/:id', {
    id: 'readJob',
    summary: 'Read one job',
    permission: 'login',
    permissionNote: "admin.events for others' jobs",
    answers: { 200: { description: 'The job', schema: JobSchema } },
    handler: ({ ctx, params }) => readJob(ctx, params.id),
  });

  routes.post('/api/v1/jobs/:id/cancel', {
    id: 'cancelJob',
    summary: 'Cancel a job',
    description:
      'One that waits is cancelled at once, one that runs when its worker has noticed, which takes about two seconds. What it has committed stays.',
    permission: 'login',
    permissionNote: "admin.events and admin.settings for others' jobs",
    answers: { 200: { description: 'The job as it is now', schema: JobSchema } },
    errors: ['job_not_cancellable'],
    handler: async ({ ctx, params, reply }) => {
      await cancelJob(ctx, params.id);
      return sendResource(reply, await readJob(ctx, params.id));
    },
  });

  routes.post('/api/v1/jobs/:id/retry', {
    id: 'retryJob',
    summary: 'Run a failed or cancelled job again',
    description:
      'From its last checkpoint where its kind has them, and with the rights of its owner, which whoever runs it again needs as well.',
    permission: 'login',
    permissionNote: "admin.events and admin.settings for others' jobs",
    answers: { 200: { description: 'The job as it is now', schema: JobSchema } },
    errors: ['job_not_retryable'],
    handler: async ({ ctx, params, reply }) => {
      await retryJob(ctx, params.id);
      return sendResource(reply, await readJob(ctx, params.id));
    },
  });

  registerDownloadRoute(app, services);
  registerScheduleRoutes(app);
}
