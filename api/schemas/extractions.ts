import Type from 'typebox';
import { ExportRequest } from '../../domain/exchange/exports/export.job.ts';
import {
  component,
  itemComponent,
  Nullable,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { Destination } from '../../reports/exchange/schedules/extraction-schedules.types.ts';

const RunStatus = Type.Union(
  ['queued', 'running', 'succeeded', 'failed', 'cancelled'].map((status) => Type.Literal(status)),
);
const RunError = Nullable(object({ code: Type.String(), message: Type.String() }));

export const ExtractionScheduleSchema = itemComponent('ExtractionSchedule', {
  id: Uuid,
  name: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('paused')]),
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

export const ExtractionRunSchema = itemComponent('ExtractionRun', {
  id: Uuid,
  schedule_id: Uuid,
  job_id: Uuid,
  trigger: Type.Union([Type.Literal('schedule'), Type.Literal('manual')]),
  slot: Type.String({
    format: 'date-time',
    description: 'The scheduled time of the run; part of its file names',
  }),
  status: RunStatus,
  attempts: Type.Integer({ description: 'Number of attempts' }),
  rows: Nullable(Type.Integer()),
  bytes: Nullable(Type.Integer()),
  sha256: Nullable(Type.String()),
  after: Nullable(
    Type.String({ description: 'The position after which an incremental run extracted changes' }),
  ),
  position: Nullable(Position),
  file_name: Nullable(Type.String()),
  error: RunError,
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  removed_at: Nullable(Type.String({ format: 'date-time', description: 'When its files were removed' })),
  links: object({ file: Nullable(Type.String()), manifest: Nullable(Type.String()) }),
});

export const StartedExtractionRunSchema = component('StartedExtractionRun', {
  run_id: Uuid,
  job_id: Uuid,
  status: Type.Literal('queued'),
  links: object({ self: Type.String() }),
});
