import Type from 'typebox';
import { createTicket } from '../../../domain/kernel/events/tickets.ts';
import { openContent, recordDownload } from '../../../domain/kernel/files/files.store.ts';
import { cancelJob, retryJob } from '../../../domain/kernel/jobs/jobs.commands.ts';
import { jobList, missingResult, resultFile } from '../../../domain/kernel/jobs/jobs.queries.ts';
import { patchSchedule, scheduleList } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { readOne } from '../../../domain/kernel/lists/lists.define.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  component,
  IntegerFrom,
  Nullable,
  NullableText,
  OpenObject,
  object,
  partialObject,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendResource } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { TicketParameter, TicketSchema } from '../events/ticket.schemas.ts';
import { fileHeaders, sendStoredFile } from '../files/files.send.ts';

const JobStatus = Choice(
  ['queued', 'running', 'succeeded', 'failed', 'cancelled'],
  'The last three are final; a failed or cancelled job can be run again',
);

const jobMembers = {
  id: Uuid,
  kind: Type.String({ examples: ['export'] }),
  status: JobStatus,
  outcome: Nullable(
    Choice(['complete', 'partial'], 'Of a succeeded job: `partial` if some of its rows failed'),
  ),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  message: NullableText('Progress as text'),
  counts: Type.Record(Type.String(), Type.Number(), { description: 'Figures that depend on the kind' }),
  owner_id: Nullable(Type.String({ format: 'uuid', description: 'Null for system jobs' })),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  result: Nullable(OpenObject),
  error: Nullable(object({ code: Type.String(), message: Type.String() })),
  attempt: IntegerFrom(1, 'Increases with each run, including after the loss of a worker'),
  links: object({
    self: Type.String({ examples: ['/api/v1/jobs/01a1fc18-58f4-7000-aa03-cee0befc06d2'] }),
    result: NullableText('The URL of its file, while it is stored'),
  }),
};

const JobSchema = component('Job', jobMembers, { description: 'A background job' });

const scheduleMembers = {
  key: Type.String({ examples: ['kpi_snapshot'] }),
  kind: Type.String({ description: 'The kind of job that it starts', examples: ['kpi_snapshot'] }),
  cron: Type.String({
    description: 'Minute, hour, day of month, month, day of week',
    examples: ['0 2 * * *'],
  }),
  time_zone: Type.String({ description: 'IANA name', examples: ['Europe/Berlin'] }),
  enabled: Type.Boolean(),
  last_slot: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
};

const JobScheduleSchema = component('JobSchedule', scheduleMembers, {
  description: 'When a kind of job is started',
});

const mediaType = [
  'text/csv',
  'application/x-ndjson',
  XLSX,
  'image/svg+xml',
  'application/vnd.apache.parquet',
  'application/zip',
  'application/xml',
  'application/octet-stream',
];
const File = Type.String({ contentMediaType: 'application/octet-stream' });

const fileNote =
  "admin.events and admin.export_workspace for others' files; costs.view for files that may contain costs";

/** Download of a job's result file. */
function registerDownloadRoute(app: App, { blobs }: Services): void {
  const routes = routesOf(app, { tag: 'Jobs', permission: 'login', permissionNote: fileNote });

  routes.post('createJobTicket', '/api/v1/jobs/:id/ticket', {
    summary: 'Get a single-use ticket that downloads the result file without a header',
    secretResponse: true,
    responses: { 201: { description: 'The ticket', schema: TicketSchema } },
    errors: ['job_result_missing'],
    handler: async ({ ctx, params, request }) => {
      await resultFile(ctx, params.id);
      const path = `/api/v1/jobs/${plainId(params.id)}/result`;
      return await createTicket(ctx, request.credential!, 'download', path);
    },
  });

  routes.get('downloadJobResult', '/api/v1/jobs/:id/result', {
    summary: 'Download the result file of a job',
    description:
      'For the owner of the job. Resume an interrupted download with `Range` and, to make sure that the file is the same, `If-Range` with its ETag. `Repr-Digest` is the SHA-256 of the complete file.',
    ticket: 'download',
    query: object({ ticket: TicketParameter }),
    responses: {
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

/** Schedules of recurring jobs. */
function registerScheduleRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Jobs', permission: 'admin.settings' });

  routes.list('listJobSchedules', '/api/v1/job-schedules', scheduleList, {
    summary: 'List schedules',
    responses: page('Schedules', JobScheduleSchema),
  });

  routes.item('readJobSchedule', '/api/v1/job-schedules/:key', scheduleList, 'schedule', {
    summary: 'Read one schedule',
    responses: ok('The schedule', JobScheduleSchema),
  });

  routes.patch('patchJobSchedule', '/api/v1/job-schedules/:key', {
    summary: 'Change the time of a schedule, or disable it',
    description: 'Runs that were missed before the change are skipped.',
    body: partialObject({
      cron: Type.String({ minLength: 1, maxLength: 200 }),
      time_zone: Type.String({ minLength: 1, maxLength: 100 }),
      enabled: Type.Boolean(),
    }),
    responses: ok('The schedule', JobScheduleSchema),
    handler: ({ ctx, params, body }) => patchSchedule(ctx, params.key, body),
  });
}

/** Jobs, their result files and schedules. */
export function registerJobRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Jobs', permission: 'login' });

  routes.list('listJobs', '/api/v1/jobs', jobList, {
    summary: 'List jobs',
    description:
      'The caller’s jobs; for a token with scopes only jobs within its scopes; with `admin.events` all jobs.',
    responses: page('Jobs, newest first', JobSchema),
  });

  routes.item('readJob', '/api/v1/jobs/:id', jobList, 'job', {
    summary: 'Read one job',
    permissionNote: "admin.events for others' jobs",
    responses: ok('The job', JobSchema),
  });

  routes.post('cancelJob', '/api/v1/jobs/:id/cancel', {
    summary: 'Cancel a job',
    description:
      'A queued job is cancelled immediately, a running one when its worker notices, within about two seconds. What it has committed remains.',
    permissionNote: "admin.events and admin.settings for others' jobs",
    responses: ok('The job as it is now', JobSchema),
    errors: ['job_not_cancellable'],
    handler: async ({ ctx, params, reply }) => {
      await cancelJob(ctx, params.id);
      return sendResource(reply, await readOne(ctx, jobList, 'job', params.id));
    },
  });

  routes.post('retryJob', '/api/v1/jobs/:id/retry', {
    summary: 'Run a failed or cancelled job again',
    description:
      'It resumes from its last checkpoint, if its kind has checkpoints, with the rights of its owner; the caller needs these rights too.',
    permissionNote: "admin.events and admin.settings for others' jobs",
    responses: ok('The job as it is now', JobSchema),
    errors: ['job_not_retryable'],
    handler: async ({ ctx, params, reply }) => {
      await retryJob(ctx, params.id);
      return sendResource(reply, await readOne(ctx, jobList, 'job', params.id));
    },
  });

  registerDownloadRoute(app, services);
  registerScheduleRoutes(app);
}
