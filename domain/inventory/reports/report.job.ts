import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { object } from '../../kernel/shapes.ts';
import { ReportFormat, reportJobOptions } from './report.options.ts';

const Payload = object({
  report: Type.String({ minLength: 1, maxLength: 100 }),
  /** Checked by the report's own schema when it was asked for. */
  params: Type.Record(Type.String(), Type.Unknown()),
  filter: Type.Optional(Type.String({ maxLength: 4000 })),
  as_of: Type.Optional(Type.String({ format: 'date-time' })),
  format: ReportFormat,
  /** Which table CSV holds. */
  table: Type.Optional(Type.String({ maxLength: 100 })),
});

/** A question to a report, and the form of the answer. */
export type ReportPayload = Static<typeof Payload>;

/** Answers a report as a file, from one snapshot. */
export const reportJob = defineJob({ kind: 'report', payload: Payload, ...reportJobOptions });
