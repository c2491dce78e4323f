import Type from 'typebox';
import { cancelJob, retryJob } from '../../../domain/kernel/jobs/jobs.commands.ts';
import { listJobs, readJob } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { sendResource } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import { JobItemSchema, JobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { registerDownloadRoute } from './jobs.download.ts';
import { registerScheduleRoutes } from './schedules.routes.ts';

/** Jobs, their result files and schedules. */
export function registerJobRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Jobs' });

  routes.get('/api/v1/jobs', {
    id: 'listJobs',
    summary: 'List jobs',
    description:
      'The caller’s jobs; for a token with scopes only jobs within its scopes; with `admin.events` all jobs.',
    permission: 'login',
    query: listQuery(['created_at', 'finished_at', 'kind', 'status'], 'created_at', {
      kind: Type.Optional(Type.String({ maxLength: 500, description: 'Comma-separated kinds' })),
      status: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Comma-separated: queued, running, succeeded, failed, cancelled',
        }),
      ),
    }),
    answers: page('Jobs, newest first', JobItemSchema),
    handler: ({ ctx, query }) => listJobs(ctx, query),
  });

  routes.get('/api/v1/jobs/:id', {
    id: 'readJob',
    summary: 'Read one job',
    permission: 'login',
    permissionNote: "admin.events for others' jobs",
    answers: ok('The job', JobSchema),
    handler: ({ ctx, params }) => readJob(ctx, params.id),
  });

  routes.post('/api/v1/jobs/:id/cancel', {
    id: 'cancelJob',
    summary: 'Cancel a job',
    description:
      'A queued job is cancelled immediately, a running one when its worker notices, within about two seconds. What it has committed remains.',
    permission: 'login',
    permissionNote: "admin.events and admin.settings for others' jobs",
    answers: ok('The job as it is now', JobSchema),
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
      'It resumes from its last checkpoint, if its kind has checkpoints, with the rights of its owner; the caller needs these rights too.',
    permission: 'login',
    permissionNote: "admin.events and admin.settings for others' jobs",
    answers: ok('The job as it is now', JobSchema),
    errors: ['job_not_retryable'],
    handler: async ({ ctx, params, reply }) => {
      await retryJob(ctx, params.id);
      return sendResource(reply, await readJob(ctx, params.id));
    },
  });

  registerDownloadRoute(app, services);
  registerScheduleRoutes(app);
}
