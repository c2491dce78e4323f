import type { Static } from 'typebox';
import { Choice } from '../../kernel/shapes.ts';

/** The output formats of a report or query. */
export const ReportFormat = Choice(['json', 'csv', 'xlsx', 'svg']);

export type ReportFormat = Static<typeof ReportFormat>;

/** Options of jobs that write a result to a file and can be repeated. */
export const reportJobOptions = {
  queue: 'bulk',
  attempts: 3,
  retentionDays: 30,
  resumable: false,
} as const;
