import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Choice, FilledText, NumberIn, object, optional, TypeKeys } from '../../kernel/shapes.ts';
import { drawingOptions, pictureOptions, ReportFormat, reportJobOptions } from './report.options.ts';

const Payload = object({
  report: Type.String({ minLength: 1, maxLength: 100 }),
  /** Checked by the report's own schema when the job was requested. */
  params: Type.Record(Type.String(), Type.Unknown()),
  filter: Type.Optional(Type.String({ maxLength: 4000 })),
  scope: Type.Optional(Type.String({ format: 'uuid' })),
  as_of: Type.Optional(Type.String({ format: 'date-time' })),
  format: ReportFormat,
  /** The table that CSV output contains. */
  table: Type.Optional(Type.String({ maxLength: 100 })),
  ...pictureOptions,
  ...drawingOptions,
});

/** A request for a report, and the format of the output. */
export type ReportPayload = Static<typeof Payload>;

/** Executes a report and writes the result to a file, from one snapshot. */
export const reportJob = defineJob({ kind: 'report', payload: Payload, ...reportJobOptions });

const Field = FilledText(
  300,
  'A path of the filter language, such as `attributes.timeModel`, `tags.Region` or `relation.relAppToITC.target.name`',
);

const As = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
    maxLength: 60,
    description: 'The name of the column; absent: made of what it shows',
  }),
);

const Dimension = object({
  field: Field,
  ...optional({
    bucket: Choice(['year', 'quarter', 'month', 'day'], {
      description: 'Groups a date or timestamp, in UTC',
    }),
    at: Type.String({
      format: 'date',
      description: 'The day of `phase`, the lifecycle phase; absent: today',
    }),
  }),
  as: As,
});

const Measure = object({
  fn: Choice(['count', 'sum', 'avg', 'min', 'max', 'distinct', 'percentile']),
  field: Type.Optional(Field),
  p: Type.Optional(NumberIn(0, 1, 'Of `percentile`: 0.5 is the median')),
  as: As,
});

const Having = object({
  column: FilledText(400, 'The name of a measure'),
  op: Choice(['=', '!=', '<', '<=', '>', '>=']),
  value: Type.Number(),
});

const Sort = object({
  column: FilledText(400, 'The name of a column'),
  dir: Choice(['asc', 'desc'], { default: 'asc' }),
});

/** The parameters of a query and its card filter. Shared by the request and the job. */
export const reportQueryMembers = {
  from: TypeKeys('Card types; none: all'),
  filter: Type.String({ default: '', maxLength: 4000, description: 'Which of their active cards' }),
  dimensions: Type.Array(Dimension, { default: [], maxItems: 8, description: 'What the groups are made by' }),
  measures: Type.Array(Measure, { default: [{ fn: 'count' }], minItems: 1, maxItems: 20 }),
  having: Type.Array(Having, { default: [], maxItems: 20, description: 'Which groups; all must hold' }),
  as_of: Type.Optional(
    Type.String({ format: 'date-time', description: 'A moment in the past; absent: now' }),
  ),
  sort: Type.Array(Sort, { default: [], maxItems: 28, description: 'Ties are broken by the dimensions' }),
};

export const ReportQuery = object(reportQueryMembers);
export type ReportQuery = Static<typeof ReportQuery>;
export type QueryDimension = Static<typeof Dimension>;
export type QueryMeasure = Static<typeof Measure>;

const QueryPayload = object({
  query: ReportQuery,
  format: ReportFormat,
  ...pictureOptions,
  ...drawingOptions,
});

export type ReportQueryPayload = Static<typeof QueryPayload>;

/** Executes a query on the inventory and writes the result to a file, from one snapshot. */
export const reportQueryJob = defineJob({ kind: 'report_query', payload: QueryPayload, ...reportJobOptions });

/** Stores the landscape's key figures under the slot of its schedule. */
export const kpiSnapshotJob = defineJob({
  kind: 'kpi_snapshot',
  queue: 'routine',
  payload: object({}),
  attempts: 5,
  retentionDays: 30,
  resumable: false,
});
