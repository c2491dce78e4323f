import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';
import { ReportFormat, reportJobOptions } from './report.options.ts';

const Payload = object({
  report: Type.String({ minLength: 1, maxLength: 100 }),
  /** Checked by the report's own schema when the job was requested. */
  params: Type.Record(Type.String(), Type.Unknown()),
  filter: Type.Optional(Type.String({ maxLength: 4000 })),
  as_of: Type.Optional(Type.String({ format: 'date-time' })),
  format: ReportFormat,
  /** The table that CSV output contains. */
  table: Type.Optional(Type.String({ maxLength: 100 })),
});

/** A request for a report, and the format of the output. */
export type ReportPayload = Static<typeof Payload>;

/** Executes a report and writes the result to a file, from one snapshot. */
export const reportJob = defineJob({ kind: 'report', payload: Payload, ...reportJobOptions });
