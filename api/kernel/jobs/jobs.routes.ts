import Type from 'typebox';
import { openContent, recordDownload } from '../../../domain/kernel/files/files.store.ts';
import { cancelJob, retryJob } from '../../../domain/kernel/jobs/jobs.commands.ts';
import { listJobs, missingResult, readJob, resultFile } from '../../../domain/kernel/jobs/jobs.queries.ts';
import { listSchedules, patchSchedule, readSchedule } from '../../../domain/kernel/jobs/schedules.fire.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { OpenObject, object } from '../../../domain/kernel/shapes.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import { JobItemSchema, JobScheduleItemSchema, JobScheduleSchema, JobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { fileHeaders, sendStoredFile } from '../files/files.send.ts';

const mediaType = [
  'text/csv',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'image/svg+xml',
  'application/vnd.apache.parquet',
  'application/zip',
  'application/xml',
  'application/octet-stream',
];
const File = Type.String({ contentMediaType: 'application/octet-stream' });

/** Download of a job's result file. */
function registerDownloadRoute(app: App, { blobs }: Services): void {
  routesOf(app, { tag: 'Jobs' }).get('/api/v1/jobs/:id/result', {
    id: 'downloadJobResult',
    summary: 'Download the result file of a job',
    description:
      'For the owner of the job. Resume an interrupted download with `Range` and, to make sure that the file is the same, `If-Range` with its ETag. `Repr-Digest` is the SHA-256 of the complete file.',
    permission: 'login',
    permissionNote:
      "admin.events and admin.export_workspace for others' files; costs.view for files that may contain costs",
    answers: {
      200: {
        description: 'The file',
        schema: OpenObject,
        otherMedia: mediaType,
        headers: fileHeaders,
      },
      206: {
        description: 'The requested bytes',
        schema: File,
        mediaType: [...mediaType, 'application/json'],
        headers: fileHeaders,
      },
    },
    headers: ['Range', 'If-None-Match'],
    errors: ['job_result_missing', 'range_not_satisfiable'],
    handler: async ({ ctx, params, request, reply }) =>
      await sendStoredFile(request, reply, await resultFile(ctx, params.id), {
        open: (file, range) =>
          openContent(blobs, file.id, range).catch((error) => {
            throw error instanceof EstateError ? missingResult(params.id, 'succeeded') : error;
          }),
        opened: (file, range) => recordDownload(ctx, { job_id: params.id }, file, range),
      }),
  });
}

const Key = object({ key: Type.String({ minLength: 1, maxLength: 100 }) });

/** Schedules of recurring jobs. */
function registerScheduleRoutes(app: App): void {
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
