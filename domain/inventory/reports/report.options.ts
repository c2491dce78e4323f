import type { Static } from 'typebox';
import { Choice } from '../../kernel/shapes.ts';

/** The forms that the answer of a report or query is given in. */
export const ReportFormat = Choice(['json', 'csv', 'xlsx', 'svg']);

export type ReportFormat = Static<typeof ReportFormat>;

/** How jobs run that write an answer to a file, which can be asked for again. */
export const reportJobOptions = {
  queue: 'bulk',
  attempts: 3,
  retentionDays: 30,
  resumable: false,
} as const;
