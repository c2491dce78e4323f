import Type from 'typebox';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';

export const StartedJobSchema = component(
  'StartedJob',
  {
    job_id: Uuid,
    status: Type.Literal('queued'),
    links: object({
      self: Type.String({ examples: ['/api/v1/jobs/01a1fc18-58f4-7000-aa03-cee0befc06d2'] }),
    }),
  },
  { description: 'The response of a request that started a job' },
);

const JobStatus = Type.Union(
  [
    Type.Literal('queued'),
    Type.Literal('running'),
    Type.Literal('succeeded'),
    Type.Literal('failed'),
    Type.Literal('cancelled'),
  ],
  { description: 'The last three are final; a failed or cancelled job can be run again' },
);

const jobMembers = {
  id: Uuid,
  kind: Type.String({ examples: ['export'] }),
  status: JobStatus,
  outcome: Nullable(
    Type.Union([Type.Literal('complete'), Type.Literal('partial')], {
      description: 'Of a succeeded job: `partial` if some of its rows failed',
    }),
  ),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  message: Nullable(Type.String({ description: 'Progress as text' })),
  counts: Type.Record(Type.String(), Type.Number(), { description: 'Figures that depend on the kind' }),
  owner_id: Nullable(Type.String({ format: 'uuid', description: 'Null for system jobs' })),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  result: Nullable(OpenObject),
  error: Nullable(object({ code: Type.String(), message: Type.String() })),
  attempt: Type.Integer({
    minimum: 1,
    description: 'Increases with each run, including after the loss of a worker',
  }),
  links: object({
    self: Type.String({ examples: ['/api/v1/jobs/01a1fc18-58f4-7000-aa03-cee0befc06d2'] }),
    result: Nullable(Type.String({ description: 'The URL of its file, while it is stored' })),
  }),
};

export const JobSchema = component('Job', jobMembers, { description: 'A background job' });

/** A job in a list: `fields` may cut it. */
export const JobItemSchema = itemComponent('JobItem', jobMembers);

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

export const JobScheduleSchema = component('JobSchedule', scheduleMembers, {
  description: 'When a kind of job is started',
});

/** A schedule in a list: `fields` may cut it. */
export const JobScheduleItemSchema = itemComponent('JobScheduleItem', scheduleMembers);
